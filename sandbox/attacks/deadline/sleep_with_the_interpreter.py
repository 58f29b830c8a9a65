"""Sleep in native code that does not let go of the interpreter.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import ctypes

ctypes.PyDLL(None).sleep(20)
