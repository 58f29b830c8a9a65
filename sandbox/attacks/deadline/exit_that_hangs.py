"""End the interpreter from native code, with a handler that hangs at its exit.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import atexit
import ctypes
import time

atexit.register(time.sleep, 20)
ctypes.pythonapi.Py_Exit(0)
