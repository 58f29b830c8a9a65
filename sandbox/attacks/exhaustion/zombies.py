"""Fill the table of processes with children that have ended and that nobody waits for.

layer: groups
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import os

children = []
try:
    for _ in range(600):
        child = os.fork()
        if child == 0:
            os._exit(0)
        children.append(child)
    print(MARKER)
finally:
    for child in children:
        os.waitpid(child, 0)
