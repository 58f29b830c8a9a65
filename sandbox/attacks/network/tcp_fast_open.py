"""Send data with the first packet of a connection, past checks of `connect`.

layer: network
plain: succeeds
proof: host
"""

import socket

with_first_packet = 0x20000000
with socket.socket() as client:
    client.sendto(MARKER.encode(), with_first_packet, tuple(TARGET["tcp"]))
