"""End the process by a fault in native code.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 3
"""

import ctypes

ctypes.string_at(0)
