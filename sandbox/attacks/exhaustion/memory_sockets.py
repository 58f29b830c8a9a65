"""Take more memory in the buffers of connected sockets than a session has.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import os
import resource
import signal
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
pairs_each, piece = 120, bytes(2**16)


def fill(tell):
    """Report the bytes that were taken in by sockets from which nobody reads."""
    pairs, held = [socket.socketpair() for _ in range(pairs_each)], 0
    for pair in pairs:
        for end in pair:
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
            try:
                while True:
                    held += end.send(piece)
            except BlockingIOError:
                continue
    os.write(tell, held.to_bytes(8, "little"))
    signal.alarm(20)
    signal.pause()


told, tell = os.pipe()
held, children = 0, []
while held < wanted and len(children) < 60:
    child = os.fork()
    if child == 0:
        try:
            fill(tell)
        finally:
            os.write(tell, bytes(8))
            os._exit(0)
    children.append(child)
    more = int.from_bytes(os.read(told, 8), "little")
    if more == 0:
        break
    held += more
if held >= wanted and all(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children):
    print(MARKER)
for child in children:
    os.kill(child, signal.SIGKILL)
