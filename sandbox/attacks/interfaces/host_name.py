"""Change the name of the host.

layer: calls
plain: succeeds as root
"""

import socket

name = socket.gethostname()
socket.sethostname(name)
print(MARKER)
