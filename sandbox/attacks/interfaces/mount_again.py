"""Make a read-only part of the file system writable.

layer: calls
plain: skipped, it would change the mounts of the machine
"""

import ctypes

libc, again_and_bound = ctypes.CDLL(None, use_errno=True), 32 | 4096
for place in (b"/", b"/usr", b"/opt/room/guest", b"/proc/sys", b"/dev"):
    if libc.mount(b"none", place, None, again_and_bound, None) == 0:
        print(MARKER)
        break
