"""Keep memory from ever being swapped out.

layer: limits
plain: depends, on the rights of the user and the memory of the machine
"""

import ctypes
import mmap

size = 256 * 2**20
libc, block = ctypes.CDLL(None, use_errno=True), mmap.mmap(-1, size)
held = ctypes.c_char.from_buffer(block)
if libc.mlock(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(size)) == 0:
    libc.munlock(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(size))
    print(MARKER)
