"""Take a descriptor out of a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, get = ctypes.CDLL(None, use_errno=True), 438
taken = libc.syscall(get, os.pidfd_open(TARGET["victim_pid"]), 0, 0)
if taken >= 0:
    os.close(taken)
    print(MARKER)
