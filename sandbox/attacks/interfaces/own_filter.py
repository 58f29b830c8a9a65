"""Switch the filter of system calls off.

layer: calls
plain: skipped, there is none
"""

import ctypes
import os

libc, set_seccomp, off, refused = ctypes.CDLL(None, use_errno=True), 22, 0, 38
libc.prctl(set_seccomp, off, 0, 0, 0)
libc.unshare(0)
if ctypes.get_errno() != refused or "Seccomp:\t2" not in open("/proc/self/status").read():
    print(MARKER)
