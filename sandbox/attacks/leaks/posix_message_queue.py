"""Find a POSIX message queue that an earlier session has left.

layer: room
plain: depends, on how Linux was built
sessions: 2
"""

import ctypes
import os

librt = ctypes.CDLL("librt.so.1", use_errno=True)
name = f"/sandbox-check-{MARKER[:8]}".encode()
queue = librt.mq_open(name, os.O_RDONLY)
if queue >= 0:
    librt.mq_close(queue)
    librt.mq_unlink(name)
    print(MARKER)
else:
    librt.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
