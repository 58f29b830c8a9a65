"""Make the node of a device of its own, and open it.

layer: users
plain: depends, on the rights of the user
"""

import os
import stat
import tempfile

path = tempfile.mktemp()
os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 11))  # the messages of Linux
try:
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    print(MARKER)
finally:
    os.unlink(path)
