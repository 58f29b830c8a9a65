"""Write 1 GiB to the disk.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import os

written = 0
for number in range(32):
    with open(f"/tmp/part{number}", "wb", buffering=0) as file:
        for _ in range(8):
            written += file.write(b"x" * (4 * 2**20))
if written >= 2**30:
    print(MARKER)
for number in range(32):
    os.unlink(f"/tmp/part{number}")
