"""Allow itself more namespaces in the settings of Linux.

layer: mounts
plain: depends, on the rights of the user
"""

import glob
import os

for path in glob.glob("/proc/sys/user/max_*"):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break
