"""Take huge pages, which are counted by nobody.

layer: limits
plain: depends, on a setting of the machine
"""

import mmap

mmap.mmap(-1, 2 * 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)
print(MARKER)
