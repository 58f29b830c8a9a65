"""The entry point of the guest: find the packages, then become the zygote of a Sandbox."""

from __future__ import annotations

import base64
import json
import os
import socket
import sys

from . import confinement

_PACKET = 1_000_000


def main() -> None:
    """The argument is the descriptor of a socket, from which the setup is read as one packet."""
    control = socket.socket(fileno=int(sys.argv[1]))
    packet, (host,), _, _ = socket.recv_fds(control, _PACKET, 1)
    setup = json.loads(packet)
    container = setup["container"]
    if container and container["kind"] == "bwrap":
        confinement.unshare_namespaces(host, control.fileno())  # before an import starts a thread
    else:
        os.close(host)
        if container and container["uid"] is not None:
            confinement.become_user(container["uid"], container["capabilities"])
    if container:
        confinement.load_filters([base64.b64decode(setup["zygote_filter"])])
    sys.path += [folder for folder in setup["packages"] if folder not in sys.path]
    from .zygote import serve

    serve(control, setup)


main()
