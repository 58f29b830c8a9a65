"""Set up a ring by which calls are made past the filter.

layer: calls
plain: depends, on how Linux was built and set
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
descriptor = libc.syscall(425, 4, ctypes.create_string_buffer(120))
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)
