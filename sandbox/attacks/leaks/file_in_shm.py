"""Find shared memory that an earlier session has left.

layer: room
plain: succeeds
sessions: 2
"""

import os

path = f"/dev/shm/sandbox-check-{MARKER[:8]}"

if os.path.exists(path):
    os.unlink(path)
    print(MARKER)
else:
    open(path, "w").close()
