"""Get back a capability.

layer: users
plain: succeeds as root
"""

import ctypes
import os
import struct

libc, version, everything = ctypes.CDLL(None, use_errno=True), 0x20080522, 0xFFFFFFFF
child = os.fork()
if child == 0:
    wanted = struct.pack("6I", *(1 << 21, 1 << 21, 0, 0, 0, 0))  # to administer the system
    os._exit(7 if libc.capset(struct.pack("Ii", version, 0), wanted) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
