"""Uncover what lies below a mount.

layer: calls
plain: skipped, it would change the mounts of the machine
"""

import ctypes

libc, lazily = ctypes.CDLL(None, use_errno=True), 2
for place in (b"/proc/sys", b"/opt/room/images", b"/proc", b"/tmp"):
    if libc.umount2(place, lazily) == 0:
        print(MARKER)
        break
