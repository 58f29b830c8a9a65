"""Get ahead of every other process.

layer: users
plain: succeeds as root
"""

import os

child = os.fork()
if child == 0:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -10)
        os._exit(7)
    finally:
        os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
