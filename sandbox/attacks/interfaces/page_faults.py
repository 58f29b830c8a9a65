"""Handle the page faults of Linux, by which races are won.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes
import os
import platform

libc, in_user_mode_only = ctypes.CDLL(None, use_errno=True), 1
number = {"x86_64": 323, "aarch64": 282}[platform.machine()]
for flags in (0, in_user_mode_only):
    descriptor = libc.syscall(number, flags)
    if descriptor >= 0:
        os.close(descriptor)
        print(MARKER)
        break
