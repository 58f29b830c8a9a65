"""Print 300 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

line = "x" * 99
for _ in range(3_000_000):
    print(line)
