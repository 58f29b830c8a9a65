"""Send data with the first packet of a connection, past checks of `connect`.

layer: network
plain: depends, on a setting of the machine
proof: host
"""

import socket

with_first_packet = 0x20000000
with socket.socket() as client:
    client.sendto(MARKER.encode(), with_first_packet, tuple(TARGET["tcp"]))
