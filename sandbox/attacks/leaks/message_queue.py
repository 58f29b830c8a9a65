"""Find a message that an earlier session has left in a System V queue.

layer: room
plain: succeeds
sessions: 2
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
key, create, exclusive = int(MARKER[:7], 16) + 1, 0o1000, 0o2000
if libc.msgget(key, create | exclusive | 0o600) < 0:
    libc.msgctl(libc.msgget(key, 0), 0, None)
    print(MARKER)
