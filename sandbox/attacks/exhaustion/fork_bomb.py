"""Fork in every child, up to 2,000 processes.

layer: limits
plain: skipped, it would start 2,000 processes
session: own
proof: neighbour
timeout: 3
"""

import os
import time

end = time.monotonic() + 1
for _ in range(11):
    try:
        os.fork()
    except OSError:
        pass
    if time.monotonic() > end:
        break
time.sleep(1)
