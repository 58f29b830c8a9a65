"""Write junk to every descriptor.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import os

for file in range(3, 400):
    try:
        os.set_blocking(file, False)
        os.write(file, os.urandom(4096))
    except OSError:
        pass
while True:
    pass
