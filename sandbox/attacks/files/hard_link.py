"""Make a hard link to a file of the host.

layer: mounts
plain: succeeds
"""

import hashlib
import os

link = TARGET["secret_file"] + ".link"
os.link(TARGET["secret_file"], link)
try:
    found = open(link).read()
finally:
    os.unlink(link)
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)
