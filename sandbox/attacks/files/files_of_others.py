"""Read what other processes have open through their descriptors.

layer: processes
plain: succeeds as root
"""

import glob
import os

here = os.stat("/proc/self/ns/pid").st_ino
names = set()
for descriptor in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        names.add(os.readlink(descriptor))
    except OSError:
        continue
if any(name.startswith(("/var/", "/home/", "/root/")) for name in names):
    print(MARKER)
elif os.path.exists(f"/proc/{TARGET['host_pid']}/fd") and os.listdir(f"/proc/{TARGET['host_pid']}/fd"):
    print(MARKER)
