"""Enter the namespaces of a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os


def enters(pid, name):
    child = os.fork()
    if child == 0:
        try:
            os._exit(7 if libc.setns(os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), 0) == 0 else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


libc = ctypes.CDLL(None, use_errno=True)
pids = (TARGET["victim_pid"], TARGET["host_pid"], 1)
if any(enters(pid, name) for pid in pids for name in ("net", "ipc", "uts", "mnt", "user", "pid")):
    print(MARKER)
