"""Reach an abstract socket that an earlier session's process listens on.

layer: network
plain: succeeds
sessions: 2
"""

import os
import socket
import time

name = "\0sandbox-check-left"
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(name)
    print(MARKER)
except OSError:
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    if os.fork() == 0:
        os.setsid()
        time.sleep(6)
        os._exit(0)
    server.close()
