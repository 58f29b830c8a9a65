"""Start a child in a user namespace of its own.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os
import platform

libc = ctypes.PyDLL(None)  # which keeps the interpreter locked: the child has one thread
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
child = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
if child > 0:
    os.waitpid(child, 0)
    print(MARKER)
