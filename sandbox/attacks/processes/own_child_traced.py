"""Trace a child, by which the filter of another process could be seen and changed.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import time

libc, attach, detach = ctypes.CDLL(None, use_errno=True), 16, 17
child = os.fork()
if child == 0:
    time.sleep(2)
    os._exit(0)
try:
    if libc.ptrace(attach, child, None, None) == 0:
        os.waitpid(child, 0)
        libc.ptrace(detach, child, None, None)
        print(MARKER)
finally:
    os.kill(child, 9)
    os.waitpid(child, 0)
