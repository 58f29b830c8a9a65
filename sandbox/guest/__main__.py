"""The first thing that runs of the guest: find the packages, then become the zygote of a Sandbox."""

from __future__ import annotations

import json
import socket
import sys

from . import confinement

_PACKET = 1_000_000


def main() -> None:
    """The argument is the descriptor of a socket, from which the setup comes as one packet."""
    control = socket.socket(fileno=int(sys.argv[1]))
    setup = json.loads(control.recv(_PACKET))
    if setup["container"]:
        confinement.own_namespaces()  # before an import starts a thread
    sys.path += [folder for folder in setup["packages"] if folder not in sys.path]
    from .zygote import serve

    serve(control, setup)


main()
