"""Follow a symbolic link of its own to a file of the host.

layer: mounts
plain: succeeds
"""

import hashlib
import os
import tempfile

link = tempfile.mktemp()
os.symlink(TARGET["secret_file"], link)
try:
    found = open(link).read()
finally:
    os.unlink(link)
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
