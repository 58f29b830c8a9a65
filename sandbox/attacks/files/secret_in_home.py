"""Read a secret from the home of the user.

layer: mounts
plain: succeeds
"""

import hashlib

found = open(TARGET["home_file"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
