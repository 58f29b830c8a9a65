"""Give the loopback another address by the routes of Linux.

layer: users
plain: depends, on the rights of the user
"""

import socket
import struct

lo, address = socket.if_nametoindex("lo"), socket.inet_aton("127.77.0.1")
attributes = struct.pack("HH4s", 8, 2, address) + struct.pack("HH4s", 8, 1, address)


def ask(kind, flags):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.bind((0, 0))
        change = struct.pack("BBBBI", socket.AF_INET, 32, 0, 254, lo) + attributes
        route.send(struct.pack("IHHII", 16 + len(change), kind, flags, 1, 0) + change)
        return struct.unpack_from("i", route.recv(4096), 16)[0]


if ask(20, 0x605) == 0:
    ask(21, 5)
    print(MARKER)
