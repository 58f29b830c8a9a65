"""Speak to other parts of Linux by netlink: audit, devices, packet filter, generic.

layer: calls
plain: succeeds
"""

import socket

for protocol in (9, 12, 15, 16, 4, 6):
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break
