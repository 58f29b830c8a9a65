"""Read the memory of another process of its user by a call, as that of the template.

layer: calls
plain: succeeds
"""

import ctypes
import os


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
secret = ctypes.create_string_buffer(b"canary--")
space = ctypes.create_string_buffer(8)
here, there = Part(ctypes.addressof(space), 8), Part(ctypes.addressof(secret), 8)
if libc.process_vm_readv(os.getpid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8:
    print(MARKER)
