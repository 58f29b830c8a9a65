"""Start a child in a user namespace of its own by the call whose flags no filter can see.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
asked = ctypes.create_string_buffer(struct.pack("11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
# From a child with one thread: Python's lock is not made anew for what this call starts, which would for ever
# offer it to threads that it has not got.
child = os.fork()
if child == 0:
    grandchild = libc.syscall(435, asked, 88)
    if grandchild > 0:
        os.waitpid(grandchild, 0)
    os._exit(7 if grandchild > 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
