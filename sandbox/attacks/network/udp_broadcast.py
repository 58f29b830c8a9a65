"""Send a packet to everybody on the network of the host.

layer: network
plain: skipped, it would reach other machines
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    client.sendto(MARKER.encode(), ("255.255.255.255", 9))
    print(MARKER)
