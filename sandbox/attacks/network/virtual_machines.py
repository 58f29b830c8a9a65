"""Speak to the hypervisor or to other virtual machines.

layer: calls
plain: depends, on how Linux was built
"""

import socket

socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
print(MARKER)
