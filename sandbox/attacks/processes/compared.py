"""Learn addresses of Linux by the comparison of processes.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 312, "aarch64": 272}[platform.machine()]
if libc.syscall(number, os.getpid(), TARGET["victim_pid"], 1, 0, 0) >= 0:
    print(MARKER)
