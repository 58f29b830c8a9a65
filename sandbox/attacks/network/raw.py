"""Open a socket for packets of its own making.

layer: calls
plain: succeeds as root
"""

import socket

for family, protocol in (
    (socket.AF_INET, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.IPPROTO_RAW),
    (socket.AF_INET6, 58),
):
    try:
        socket.socket(family, socket.SOCK_RAW, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break
