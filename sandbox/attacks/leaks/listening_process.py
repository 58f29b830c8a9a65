"""Reach a port that a process of an earlier session still listens on.

layer: network
plain: succeeds
sessions: 2
"""

import os
import signal
import socket

port = 20_000 + int(MARKER[:4], 16) % 10_000
try:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
        told = client.recv(100).decode()
except OSError:
    told = None
if told == MARKER:
    print(MARKER)
elif told is None:
    with socket.create_server(("127.0.0.1", port)) as server:
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            os.write(tell, b".")
            server.accept()[0].sendall(MARKER.encode())  # to the later session
            os._exit(0)
        os.read(ready, 1)  # before that, it would end with this session
