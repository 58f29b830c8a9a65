"""Restart the machine.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 169, "aarch64": 142}[platform.machine()]
libc.syscall(number, 0, 0, 0, None)  # without the magic numbers
if ctypes.get_errno() not in (1, 38):
    print(MARKER)
