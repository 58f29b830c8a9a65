"""Read the messages of Linux.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import os

file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
if os.read(file, 8192):
    print(MARKER)
os.close(file)
