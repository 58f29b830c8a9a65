"""Have every process of the machine written down in a file.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.acct(None) == 0:  # to none: it is off, as it was
    print(MARKER)
