"""Find a way to another machine.

layer: network
plain: depends, on whether the machine has a network
"""

import socket

for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        try:
            client.connect((address, 9))  # asks for a way, and sends nothing
        except OSError:
            continue
        print(MARKER)
        break
