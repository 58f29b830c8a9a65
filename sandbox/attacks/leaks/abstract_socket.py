"""Reach an abstract socket that an earlier session's process listens on.

layer: network
plain: succeeds
sessions: 2
"""

import os
import signal
import socket

name = f"\0sandbox-check-{MARKER[:8]}"
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(name)
    print(MARKER)
except OSError:
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os.write(tell, b".")
        server.accept()  # the later session ends it by coming
        os._exit(0)
    os.read(ready, 1)  # before that, it would end with this session
    server.close()
