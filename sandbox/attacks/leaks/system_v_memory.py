"""Find System V memory that an earlier session has left.

layer: room
plain: succeeds
sessions: 2
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
key, create, exclusive, remove = int(MARKER[:7], 16) + 1, 0o1000, 0o2000, 0
if libc.shmget(key, 4096, create | exclusive | 0o600) < 0:
    libc.shmctl(libc.shmget(key, 4096, 0), remove, None)
    print(MARKER)
