"""Ask a server of names, which can carry secrets away.

layer: network
plain: skipped, it would ask the network
"""

import socket

if socket.getaddrinfo("example.invalid.example.com", 80):
    print(MARKER)
