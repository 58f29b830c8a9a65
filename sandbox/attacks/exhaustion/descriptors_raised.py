"""Raise the limit on descriptors.

layer: users
plain: depends, on the limit that is there already
"""

import resource

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))
print(MARKER)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
