"""Keep a key in Linux, where it would outlive the session.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
make, change = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
key = libc.syscall(make, b"user", b"sandbox-check", b"x", 1, -3)
if key > 0:
    libc.syscall(change, 3, key)  # revoke
    print(MARKER)
