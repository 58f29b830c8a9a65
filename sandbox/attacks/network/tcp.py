"""Reach a TCP server on the loopback of the host.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.create_connection(TARGET["tcp"], timeout=2) as client:
    client.sendall(MARKER.encode())
