"""Take the loopback down by the routes of Linux.

layer: users
plain: skipped, it would cut the machine off
"""

import socket
import struct

lo = socket.if_nametoindex("lo")
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
    route.bind((0, 0))
    change = struct.pack("BxHiII", 0, 0, lo, 0, 1)  # no longer up
    route.send(struct.pack("IHHII", 16 + len(change), 16, 5, 1, 0) + change)
    if struct.unpack_from("i", route.recv(4096), 16)[0] == 0:
        print(MARKER)
