"""Reach a socket of the host by its file.

layer: mounts
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_UNIX) as client:
    client.connect(TARGET["unix"])
    client.sendall(MARKER.encode())
