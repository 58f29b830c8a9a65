"""Start a child in a user namespace of its own by the call whose flags no filter can see.

layer: calls
plain: succeeds
"""

import ctypes
import os
import struct

libc = ctypes.PyDLL(None)  # which keeps the interpreter locked: the child has one thread
asked = ctypes.create_string_buffer(struct.pack("11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
child = libc.syscall(435, asked, 88)
if child == 0:
    os._exit(0)
if child > 0:
    os.waitpid(child, 0)
    print(MARKER)
