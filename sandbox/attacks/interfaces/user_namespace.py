"""Become root of a user namespace of its own.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os

libc, new_user = ctypes.CDLL(None, use_errno=True), 0x10000000
child = os.fork()
if child == 0:
    os._exit(7 if libc.unshare(new_user) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
