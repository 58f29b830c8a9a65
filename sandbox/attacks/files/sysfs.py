"""Open a setting of a device below /sys for writing.

layer: mounts
plain: succeeds as root
"""

import glob
import os

for path in ("/sys/power/state", "/sys/kernel/uevent_helper", *glob.glob("/sys/class/net/lo/mtu")):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break
