"""Listen to every packet of the machine.

layer: calls
plain: depends, on the rights of the user and how Linux was built
"""

import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()
print(MARKER)
