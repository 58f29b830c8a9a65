"""Find a process of the host in the list of processes.

layer: processes
plain: succeeds
"""

import os

known = {str(TARGET["victim_pid"]), str(TARGET["host_pid"])}
if known <= set(os.listdir("/proc")) and os.getppid():
    print(MARKER)
