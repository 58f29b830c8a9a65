"""Send a packet to a UDP server of the host.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.sendto(MARKER.encode(), tuple(TARGET["udp"]))
