"""Write to a terminal of the host.

layer: mounts
plain: skipped, somebody may sit there
"""

import glob
import os

for path in ["/dev/tty", "/dev/console", "/dev/tty1", *glob.glob("/dev/pts/[0-9]*")]:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY))
    except OSError:
        continue
    print(MARKER)
    break
