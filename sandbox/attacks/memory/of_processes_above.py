"""Read the environment and memory of the processes that started it.

layer: processes
plain: succeeds
"""

import os

above = os.getppid()
if (above > 1 or above == TARGET["host_pid"]) and open(f"/proc/{above}/maps").read():
    print(MARKER)
