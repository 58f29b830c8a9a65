"""Change an image for a later session.

layer: mounts
plain: skipped, there is no such folder
sessions: 2
"""

import os

for path in ("/opt/room/images/left", "/opt/room/sessions/left", "/opt/room/left"):
    if os.path.exists(path):
        print(MARKER)
    try:
        open(path, "w").close()
    except OSError:
        pass
