"""Write to a System V segment of the host.

layer: room
plain: succeeds
proof: host
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(TARGET["shm_key"], 0, 0)
if number >= 0:
    address = libc.shmat(number, None, 0)
    ctypes.memmove(address, b"changed", 7)
    libc.shmdt(ctypes.c_void_p(address))
