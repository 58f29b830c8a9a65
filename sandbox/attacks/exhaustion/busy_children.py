"""Leave four children spinning after the cell.

layer: deadline
plain: skipped, they would go on
session: own
proof: neighbour
after: print('still here')
expect: still here
"""

import os
import time

for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            pass
        os._exit(0)
