"""Take five eighths of the memory that a session has, and as much in TCP connections that nobody reads.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import os
import resource
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
files, held, piece = [], 0, bytes(2**22)
while held < limit * 5 // 8:
    files.append(os.memfd_create("held"))
    for _ in range(16):
        held += os.write(files[-1], piece)
server = socket.create_server(("127.0.0.1", 0), backlog=512)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
ends, piece = [], bytes(2**18)
while held < limit * 5 // 4 and len(ends) < 800:
    end = socket.create_connection(server.getsockname())
    ends += [end, server.accept()[0]]
    end.setblocking(False)
    try:
        while True:
            held += end.send(piece)
    except BlockingIOError:
        continue
if held >= limit * 5 // 4:
    print(MARKER)
for end in ends:
    end.close()
for file in files:
    os.close(file)
