"""Find an interface of the network besides the loopback.

layer: network
plain: depends, on whether the machine has a network
"""

import socket

if [name for _, name in socket.if_nameindex() if name != "lo"]:
    print(MARKER)
