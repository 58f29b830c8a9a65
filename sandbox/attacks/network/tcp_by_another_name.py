"""Reach a TCP server of the host by other addresses of the loopback.

layer: network
plain: succeeds
proof: host
"""

import socket

for host in ("localhost", "127.0.0.1", "0.0.0.0", "2130706433"):
    try:
        with socket.create_connection((host, TARGET["tcp"][1]), timeout=1) as client:
            client.sendall(MARKER.encode())
    except OSError:
        continue
