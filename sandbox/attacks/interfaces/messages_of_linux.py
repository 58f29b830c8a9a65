"""Read the messages of Linux by their call.

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes

libc, read_all = ctypes.CDLL(None, use_errno=True), 3
if libc.klogctl(read_all, ctypes.create_string_buffer(4096), 4096) > 0:
    print(MARKER)
