"""Get namespaces of its own: mounts, host name, IPC, network, processes, control groups, time.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x20000, 0x4000000, 0x8000000, 0x40000000, 0x20000000, 0x2000000, 0x80):
    child = os.fork()
    if child == 0:
        os._exit(7 if libc.unshare(flag) == 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
        print(MARKER)
        break
