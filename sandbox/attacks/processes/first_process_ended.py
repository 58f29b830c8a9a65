"""End the first process of the room, which holds it together.

layer: processes
plain: skipped, process 1 of the machine is not to be touched
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import os
import time

for number in (9, 15, 19):
    os.kill(1, number)
time.sleep(0.3)
