"""Take another folder for its root, and climb out of that.

layer: calls
plain: succeeds as root
"""

import os
import tempfile

child = os.fork()
if child == 0:
    try:
        os.chroot(tempfile.mkdtemp())
    finally:
        os._exit(7 if os.listdir("/") == [] else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
