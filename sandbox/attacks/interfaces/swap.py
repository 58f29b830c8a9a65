"""Have memory written to a file of its own.

layer: calls
plain: skipped, Linux refuses a file without its header even to root
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.swapon(b"/nowhere", 0)
if ctypes.get_errno() not in (1, 38):
    print(MARKER)
