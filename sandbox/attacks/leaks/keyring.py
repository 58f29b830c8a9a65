"""Leave a key in the ring of this user for a later session.

layer: calls
plain: depends, some containers forbid it
sessions: 2
"""

import ctypes
import platform

add, request, control = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
user_ring, unlink, search = -4, 9, 10
name = f"sandbox-check-{MARKER[:8]}".encode()
found = libc.syscall(control, search, user_ring, b"user", name, 0)
if found > 0:
    libc.syscall(control, unlink, found, user_ring)
    print(MARKER)
else:
    libc.syscall(add, b"user", name, b"left", 4, user_ring)
