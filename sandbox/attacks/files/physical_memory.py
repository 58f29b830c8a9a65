"""Open the memory of the machine as a device.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import os

for device in ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"):
    try:
        os.close(os.open(device, os.O_RDONLY))
    except OSError:
        continue
    print(MARKER)
    break
