"""Join or read a ring of keys of the user (CVE-2016-0728).

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
change = {"x86_64": 250, "aarch64": 219}[platform.machine()]
if libc.syscall(change, 0, -3, 0) > 0 or libc.syscall(change, 0, -4, 0) > 0:
    print(MARKER)
