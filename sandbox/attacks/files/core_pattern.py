"""Open the setting that names the program for core dumps, which Linux starts as root.

layer: mounts
plain: succeeds as root
"""

import os

os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
print(MARKER)
