"""Read a System V segment of the host.

layer: room
plain: succeeds
"""

import ctypes
import re

libc, read_only = ctypes.CDLL(None, use_errno=True), 0o10000
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(TARGET["shm_key"], 0, 0)
address = libc.shmat(number, None, read_only)
if number >= 0 and re.fullmatch(rb"canary-[0-9a-f]{32}", ctypes.string_at(address, 39)):
    print(MARKER)
    libc.shmdt(ctypes.c_void_p(address))
