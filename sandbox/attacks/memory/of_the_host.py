"""Read a secret from the memory of a process of the host.

layer: processes
plain: succeeds as root
"""

import re

pid, found = TARGET["victim_pid"], None
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
    for line in maps:
        if line.endswith("[stack]\n"):
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            memory.seek(start)
            found = re.search(rb"canary-[0-9a-f]{32}", memory.read(end - start))
if found:
    print(MARKER)
