"""Trace a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, seize = ctypes.CDLL(None, use_errno=True), 0x4206
child = os.fork()
if child == 0:  # the end of a tracer is the end of the trace
    os._exit(7 if libc.ptrace(seize, TARGET["victim_pid"], None, None) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
