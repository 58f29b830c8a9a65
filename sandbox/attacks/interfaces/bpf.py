"""Load a program into Linux.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
table = ctypes.create_string_buffer(struct.pack("5I", 2, 4, 4, 1, 0), 128)  # an array of one number
descriptor = libc.syscall(number, 0, table, 128)
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)
