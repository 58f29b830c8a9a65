"""Wait in Linux itself for a child that borrows the memory of the kernel; no signal but one gets through.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import ctypes
import os
import time

if ctypes.PyDLL(None).vfork() == 0:
    time.sleep(8)
    os._exit(0)
