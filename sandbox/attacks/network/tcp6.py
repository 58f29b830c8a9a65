"""Reach a TCP server on the loopback of the host by version 6.

layer: network
plain: depends, on version 6 of the protocol
proof: host
"""

import socket

with socket.create_connection(TARGET["tcp6"], timeout=2) as client:
    client.sendall(MARKER.encode())
