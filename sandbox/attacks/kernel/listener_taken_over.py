"""Answer the host's own connections with junk, in the place of the kernel's sockets.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: neighbour
after: pass
timeout: 1
"""

import os
import socket
import threading


def listening(number):
    """The socket, if it is one of those at which the host connects."""
    try:
        found = socket.socket(fileno=os.dup(number))
    except OSError:
        return None
    if found.family == socket.AF_UNIX and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return found
    found.close()
    return None


def answer(listener):
    listener.settimeout(5)
    try:
        for _ in range(100):
            with listener.accept()[0] as connection:
                connection.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + os.urandom(100_000))
    except OSError:
        return


numbers = [int(name) for name in os.listdir("/proc/self/fd")]
for listener in filter(None, map(listening, numbers)):
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
for _ in range(70):  # until the host gives the connection up, and makes a new one with the next cell
    print("x" * 2**20)
