"""Start a child in a user namespace of its own.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
# From a child with one thread: Python's lock is not made anew for what this call starts, which would for ever
# offer it to threads that it has not got.
child = os.fork()
if child == 0:
    grandchild = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
    if grandchild > 0:
        os.waitpid(grandchild, 0)
    os._exit(7 if grandchild > 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
