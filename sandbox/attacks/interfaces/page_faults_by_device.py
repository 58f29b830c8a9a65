"""Handle the page faults of Linux by their device.

layer: mounts
plain: depends, on how Linux was built and the rights of the user
"""

import os

os.close(os.open("/dev/userfaultfd", os.O_RDWR))
print(MARKER)
