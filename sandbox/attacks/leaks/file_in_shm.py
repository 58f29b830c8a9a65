"""Find shared memory that an earlier session has left.

layer: room
plain: succeeds
sessions: 2
"""

import os

if os.path.exists("/dev/shm/sandbox-check-left"):
    os.unlink("/dev/shm/sandbox-check-left")
    print(MARKER)
else:
    open("/dev/shm/sandbox-check-left", "w").close()
