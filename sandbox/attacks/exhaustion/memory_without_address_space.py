"""Take 3 GiB of memory in anonymous files, which are nobody's address space.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import os

files = [os.memfd_create(str(number)) for number in range(15)]
for file in files:
    for _ in range(20):
        os.write(file, b"x" * (10 * 2**20))
print(MARKER)
