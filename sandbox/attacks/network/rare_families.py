"""Open a socket of a family that nobody needs, and where faults were found.

layer: calls
plain: depends, on how Linux was built
"""

import socket

# AX25, X25, IrDA, Bluetooth, CAN, TIPC, RDS, LLC, KCM, XDP, QIPCRTR, SMC, SCTP by name of its protocol
for family, kind, protocol in (
    *(
        (family, kind, 0)
        for family in (3, 9, 23, 31, 29, 30, 21, 26, 41, 44, 42, 43)
        for kind in (1, 2, 3, 5)
    ),
    (2, 1, 132),
    (2, 1, 262),
    (2, 2, 136),
):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break
