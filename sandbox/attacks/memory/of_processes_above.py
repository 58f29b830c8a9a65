"""Read the environment and memory of the processes that started it.

layer: processes
plain: succeeds
"""

import os

if os.getppid() > 1 and open(f"/proc/{os.getppid()}/maps").read():
    print(MARKER)
