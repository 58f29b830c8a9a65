"""Change the code that every later kernel starts from.

layer: mounts
plain: skipped, there is no such folder
"""

import glob
import os

for path in glob.glob("/opt/room/guest/*.py"):
    os.close(os.open(path, os.O_RDWR))
    print(MARKER)
