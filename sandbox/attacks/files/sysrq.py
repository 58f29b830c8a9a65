"""Open the trigger that can halt the machine.

layer: mounts
plain: depends, on how Linux was built and the rights of the user
"""

import os

os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
print(MARKER)
