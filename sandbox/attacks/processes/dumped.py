"""Leave a dump of its memory, which Linux hands to a program of the host.

layer: limits
plain: skipped, it depends on the program of the machine
"""

import resource

if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0:
    print(MARKER)
