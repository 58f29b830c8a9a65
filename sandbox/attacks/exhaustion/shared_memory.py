"""Take 3 GiB of memory in shared mappings.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import mmap

maps = []
for _ in range(30):
    block = mmap.mmap(-1, 100 * 2**20)
    block[::4096] = b"x" * (len(block) // 4096)
    maps.append(block)
print(MARKER)
