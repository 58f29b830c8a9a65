"""Remove a POSIX segment of the host.

layer: mounts
plain: succeeds
proof: host
"""

import os

os.unlink("/dev/shm" + TARGET["shm_name"])
