"""Make a control group of its own, or leave its own.

layer: mounts
plain: depends, on the rights of the user and the control groups of the machine
"""

import glob
import os

for place in [*glob.glob("/sys/fs/cgroup/*/"), "/sys/fs/cgroup/", "/tmp/"]:
    if not os.path.exists(place + "cgroup.procs"):
        continue
    try:
        os.close(os.open(place + "cgroup.procs", os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break
