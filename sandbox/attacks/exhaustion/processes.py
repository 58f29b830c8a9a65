"""Start 400 processes.

layer: limits
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import os
import time

children = []
try:
    for _ in range(400):
        pid = os.fork()
        if pid == 0:
            time.sleep(3)
            os._exit(0)
        children.append(pid)
    print(MARKER)
finally:
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
