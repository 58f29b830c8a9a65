"""Find a secret in the environment of any process.

layer: processes
plain: succeeds
"""

import glob
import hashlib
import re

found = set()
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/task/*/environ"):
    try:
        found |= set(re.findall(rb"canary-[0-9a-f]{32}", open(path, "rb").read()))
    except OSError:
        continue
if any(hashlib.sha256(each).hexdigest() == TARGET["secret_sha256"] for each in found):
    print(MARKER)
