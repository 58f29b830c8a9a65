"""Make 400,000 files.

layer: groups
plain: skipped, it would use up the files of this disk
session: own
proof: neighbour
timeout: 6
"""

import os

os.makedirs("/tmp/many")
for number in range(400_000):
    os.close(os.open(f"/tmp/many/{number}", os.O_CREAT | os.O_WRONLY))
