"""Change how much disk users may have.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 179, "aarch64": 60}[platform.machine()]
if libc.syscall(number, 0x80000100, None, 0, None) == 0:  # write every quota to its disk
    print(MARKER)
