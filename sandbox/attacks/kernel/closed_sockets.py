"""Close every descriptor and go on.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import os

os.closerange(3, 1024)
while True:
    pass
