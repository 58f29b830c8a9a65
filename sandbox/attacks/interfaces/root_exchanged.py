"""Exchange the root of the file system for another one.

layer: calls
plain: fails
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
if libc.syscall(number, b"/tmp", b"/tmp") == 0:
    print(MARKER)
