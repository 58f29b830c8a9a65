"""Trace the first process of the room.

layer: calls
plain: skipped, process 1 of the machine is not to be touched
"""

import ctypes

libc, attach, seize = ctypes.CDLL(None, use_errno=True), 16, 0x4206
for request in (attach, seize):
    if libc.ptrace(request, 1, None, None) == 0:
        print(MARKER)
        break
