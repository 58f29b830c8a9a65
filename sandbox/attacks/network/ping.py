"""Send an echo request by a socket that needs no rights.

layer: calls
plain: depends, on a setting of the machine
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as client:
    client.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("192.0.2.1", 0))
    print(MARKER)
