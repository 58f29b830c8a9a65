"""Get past its limits by those of the first process of the room.

layer: limits
plain: skipped, process 1 of the machine is no concern of a test
"""

import resource

for name in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    if resource.prlimit(1, name)[1] == resource.RLIM_INFINITY:
        print(MARKER)
        break
