"""Make 200,000 files.

layer: disk
plain: skipped, it would use up the files of this disk
session: own
timeout: 3
"""

import os

os.makedirs("/tmp/many")
for number in range(200_000):
    os.close(os.open(f"/tmp/many/{number}", os.O_CREAT | os.O_WRONLY))
print(MARKER)
