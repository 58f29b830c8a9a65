"""Unpack a small archive into more memory than a session has.

layer: limits
plain: depends, on the memory and the limits of the machine
"""

import gzip
import resource

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
member = gzip.compress(bytes(2**26), 1)
if len(gzip.decompress(member * (wanted // 2**26 + 1))) >= wanted:
    print(MARKER)
