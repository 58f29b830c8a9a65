"""Read the disk of the machine as a device.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import glob
import os

for device in (
    glob.glob("/dev/sd*") + glob.glob("/dev/vd*") + glob.glob("/dev/nvme*") + glob.glob("/dev/loop*")
):
    try:
        os.close(os.open(device, os.O_RDONLY))
    except OSError:
        continue
    print(MARKER)
    break
