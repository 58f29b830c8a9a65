"""Have another Linux started in the place of this one.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 246, "aarch64": 104}[platform.machine()]
libc.syscall(number, 0, 1_000_000, None, 0)  # more segments than there can be
if ctypes.get_errno() not in (1, 38):
    print(MARKER)
