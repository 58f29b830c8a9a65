"""Read what a session that runs beside this one keeps in /tmp.

layer: room
plain: succeeds
"""

import glob
import hashlib

for path in glob.glob("/tmp/neighbour-*") + glob.glob("/proc/[0-9]*/root/tmp/neighbour-*"):
    try:
        kept = open(path).read().strip()
    except OSError:
        continue
    if hashlib.sha256(kept.encode()).hexdigest() == TARGET["neighbour_secret_sha256"]:
        print(MARKER)
        break
