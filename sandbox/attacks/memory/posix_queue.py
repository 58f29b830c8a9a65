"""Make a queue of messages that is found after its end.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os
import platform

libc, make = ctypes.CDLL(None, use_errno=True), os.O_CREAT | os.O_RDWR
opened, removed = {"x86_64": (240, 241), "aarch64": (180, 181)}[platform.machine()]
queue = libc.syscall(opened, b"sandbox-check", make, 0o600, None)
if queue >= 0:
    os.close(queue)
    libc.syscall(removed, b"sandbox-check")
    print(MARKER)
