"""Read the messages of Linux.

layer: mounts
plain: succeeds as root
"""

import os

file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
if os.read(file, 8192):
    print(MARKER)
os.close(file)
