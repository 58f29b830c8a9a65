"""Write to a POSIX segment of the host.

layer: mounts
plain: succeeds
proof: host
"""

import mmap

with open("/dev/shm" + TARGET["shm_name"], "r+b") as file, mmap.mmap(file.fileno(), 0) as segment:
    segment[:7] = b"changed"
