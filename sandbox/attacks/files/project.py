"""Find the project that the host was started in.

layer: mounts
plain: depends, on where the host was started
"""

import os

folder = os.readlink(f"/proc/{TARGET['host_pid']}/cwd")
if os.listdir(folder):
    print(MARKER)
