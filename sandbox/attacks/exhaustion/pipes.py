"""Take 256 MiB of memory in pipes that nobody reads, beyond what one user may have in them.

layer: limits
plain: succeeds as root
"""

import fcntl
import os

wanted, held, pipes = 256 * 2**20, 0, []
try:
    while held < wanted:
        read, write = os.pipe()
        pipes += [read, write]
        size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 2**20)
        held += os.write(write, bytes(size))
    print(MARKER)
finally:
    for end in pipes:
        os.close(end)
