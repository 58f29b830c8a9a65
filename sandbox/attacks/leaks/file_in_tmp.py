"""Find a file that an earlier session has left in /tmp.

layer: room
plain: succeeds
sessions: 2
"""

import os

if os.path.exists("/tmp/sandbox-check-left"):
    os.unlink("/tmp/sandbox-check-left")
    print(MARKER)
else:
    open("/tmp/sandbox-check-left", "w").close()
