"""Mount a file system of its own.

layer: calls
plain: succeeds as root
"""

import ctypes
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
place = tempfile.mkdtemp().encode()
if libc.mount(b"none", place, b"tmpfs", 0, None) == 0:
    print(MARKER)
    libc.umount2(place, 2)
