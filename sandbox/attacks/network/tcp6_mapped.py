"""Reach a TCP server of the host by an address of version 4 within version 6.

layer: network
plain: depends, on version 6 of the protocol
proof: host
"""

import socket

host, port = TARGET["tcp"]
with socket.create_connection((f"::ffff:{host}", port), timeout=2) as client:
    client.sendall(MARKER.encode())
