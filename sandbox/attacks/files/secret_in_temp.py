"""Read a secret from the temporary folder of the host.

layer: mounts
plain: succeeds
"""

import hashlib

found = open(TARGET["secret_file"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
