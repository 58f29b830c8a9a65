"""Keep more files open than a process may, by sending them to nobody.

layer: limits
plain: succeeds as root
"""

import array
import os
import resource
import socket

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
wanted = soft + 500
file = os.open("/dev/null", os.O_RDONLY)
sent, pairs = 0, []
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file] * 250))]
try:
    while sent < wanted:
        pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for _ in range(4):
            pairs[-1][0].sendmsg([b"x"], rights)
            sent += 250
    print(MARKER)
finally:
    os.close(file)
    for pair in pairs:
        for end in pair:
            end.close()
