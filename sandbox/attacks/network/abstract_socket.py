"""Reach an abstract socket of the host, which has no file.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_UNIX) as client:
    client.connect("\0" + TARGET["abstract"])
    client.sendall(MARKER.encode())
