"""Find a file that an earlier session has left in /tmp.

layer: room
plain: succeeds
sessions: 2
"""

import os

path = f"/tmp/sandbox-check-{MARKER[:8]}"

if os.path.exists(path):
    os.unlink(path)
    print(MARKER)
else:
    open(path, "w").close()
