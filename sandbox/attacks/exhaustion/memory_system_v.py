"""Take more memory in System V segments that nobody has attached than a session has.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import ctypes
import resource

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
size = 32 * 2**20
segments = []
try:
    while len(segments) * size < wanted:
        segment = libc.shmget(0, size, 0o1600)
        assert segment >= 0, ctypes.get_errno()
        segments.append(segment)
        address = libc.shmat(segment, None, 0)
        ctypes.memset(address, 1, size)
        libc.shmdt(ctypes.c_void_p(address))
    print(MARKER)
finally:
    for segment in segments:
        libc.shmctl(segment, 0, None)
