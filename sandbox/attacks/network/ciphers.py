"""Reach the ciphers of Linux by a socket.

layer: calls
plain: depends, on how Linux was built
"""

import socket

with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as cipher:
    cipher.bind(("hash", "sha256"))
    print(MARKER)
