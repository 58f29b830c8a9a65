"""Map its user to root in its own namespace.

layer: users
plain: fails
"""

import os

for path in ("/proc/self/uid_map", "/proc/1/uid_map", "/proc/self/gid_map"):
    try:
        with open(path, "w") as file:
            file.write("0 0 1")
    except OSError:
        continue
    print(MARKER)
    break
