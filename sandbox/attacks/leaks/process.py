"""Find a process that an earlier session has left.

layer: room
plain: succeeds
sessions: 2
"""

import glob
import os
import subprocess

found = []
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if open(path, "rb").read() == b"sleep\x0043.217\x00":
            found.append(int(path.split("/")[2]))
    except OSError:
        pass
if found:
    print(MARKER)
    for pid in found:
        os.kill(pid, 9)
else:
    subprocess.Popen(["sleep", "43.217"], start_new_session=True)
