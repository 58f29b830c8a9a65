"""Write into the folder that the images come from.

layer: mounts
plain: skipped, there is no such folder
"""

import os

os.close(os.open("/opt/room/images/made", os.O_CREAT | os.O_WRONLY))
print(MARKER)
