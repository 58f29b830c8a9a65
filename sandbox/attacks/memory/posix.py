"""Read a POSIX segment of the host.

layer: mounts
plain: succeeds
"""

import hashlib

found = open("/dev/shm" + TARGET["shm_name"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
