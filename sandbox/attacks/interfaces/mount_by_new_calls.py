"""Mount a file system by the calls that replace `mount`: fsopen, open_tree, move_mount, fspick, mount_setattr.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import struct

libc, here = ctypes.CDLL(None, use_errno=True), -100
attributes = ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0), 32)
asked = {
    430: (b"tmpfs", 0),
    428: (here, b"/", 1),
    429: (here, b"/tmp", here, b"/tmp", 0),
    433: (here, b"/", 0),
    442: (here, b"/nowhere", 0, attributes, 32),
}
for number, arguments in asked.items():
    descriptor = libc.syscall(number, *arguments)
    if descriptor >= 0:
        os.close(descriptor)
        print(MARKER)
        break
