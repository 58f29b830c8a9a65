"""Take 3 GiB of memory in one process.

layer: limits
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

data = []
for _ in range(30):
    block = bytearray(100 * 2**20)
    block[::4096] = b"x" * len(block[::4096])
    data.append(block)
print(MARKER)
