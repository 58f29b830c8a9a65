"""Turn the random layout of memory off for what it starts.

layer: calls
plain: depends, some containers forbid it
"""

import ctypes
import os

libc, no_random_layout = ctypes.CDLL(None, use_errno=True), 0x0040000
child = os.fork()
if child == 0:
    os._exit(7 if libc.personality(no_random_layout) != -1 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
