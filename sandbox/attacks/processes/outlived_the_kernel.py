"""Leave a process that goes on after the end of its kernel.

layer: room
plain: succeeds
session: own
sessions: 2
"""

import os
import subprocess
import time

for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        told = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if told.startswith("sleep\0") and told.rstrip("\0").endswith("86.41"):
        print(MARKER)
        os.kill(int(pid), 9)
        break
else:
    if os.fork() == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "86.41"])
        finally:
            os._exit(0)
    os.wait()
    time.sleep(0.1)
