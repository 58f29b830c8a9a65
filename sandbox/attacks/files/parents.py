"""Walk up out of the working directory with many steps of `..`.

layer: mounts
plain: succeeds
"""

import hashlib

found = open("../" * 40 + TARGET["secret_file"].lstrip("/")).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
