"""Join a group of machines that speak to each other.

layer: network
plain: depends, on the network of the machine
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    group = socket.inet_aton("224.0.0.251") + socket.inet_aton("0.0.0.0")
    client.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    print(MARKER)
