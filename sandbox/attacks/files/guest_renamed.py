"""Put a folder of its own in the place of the guest's code.

layer: mounts
plain: skipped, there is no such folder
"""

import os

os.rename("/opt/room/guest", "/opt/room/guest-moved")
os.rename("/opt/room/guest-moved", "/opt/room/guest")
print(MARKER)
