"""Enter the namespaces of a process of the host by a descriptor of the process.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, network = ctypes.CDLL(None, use_errno=True), 0x40000000
for pid in (TARGET["victim_pid"], 1):
    child = os.fork()
    if child == 0:
        try:
            os._exit(7 if libc.setns(os.pidfd_open(pid), network) == 0 else 1)
        finally:
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
        print(MARKER)
        break
