"""Keep more files open than a process may, by sending them to nobody.

layer: limits
plain: depends, on the rights of the user and the limit of whoever runs it
"""

import array
import os
import resource
import socket

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if soft > 2**18:  # as good as none: it would take the memory of the machine
    raise OSError(f"{soft} files may be open")
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
