"""Canaries of the network: servers on this machine of every family that a cell could try to reach."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Listeners:
    """Nobody waits at them: Linux keeps what a client has sent until `harm` looks."""

    def __init__(self, folder: Path) -> None:
        abstract = f"sandbox-check-{secrets.token_hex(6)}"
        path = folder / "socket"
        self._servers = {
            "tcp": socket.create_server(("127.0.0.1", 0)),
            "abstract": _unix(f"\0{abstract}"),
            "unix": _unix(str(path)),
        }
        with contextlib.suppress(OSError):  # a machine without version 6
            self._servers["tcp6"] = socket.create_server(("::1", 0), family=socket.AF_INET6)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        for server in (*self._servers.values(), self._udp):
            server.settimeout(0)
        path.chmod(0o777)
        self.target: dict[str, Any] = {
            "tcp": self._servers["tcp"].getsockname(),
            "tcp6": self._servers["tcp6"].getsockname()[:2] if "tcp6" in self._servers else None,
            "udp": self._udp.getsockname(),
            "abstract": abstract,
            "unix": str(path),
        }

    def harm(self, marker: str) -> str | None:
        """Whether a server has got the marker."""
        for name, server in self._servers.items():
            if any(marker.encode() in sent for sent in _sent_to(server)):
                return f"the {name} server of the host was reached"
        if any(marker.encode() in packet for packet in _packets(self._udp)):
            return "the udp server of the host was reached"
        return None

    def close(self) -> None:
        """Stop listening."""
        for server in (*self._servers.values(), self._udp):
            server.close()


def _unix(address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    return server


def _sent_to(server: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(BlockingIOError):  # nobody else has come
        while True:
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):  # it sent nothing, or went away
                client.settimeout(0.2)
                yield client.recv(65_536)


def _packets(server: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(BlockingIOError):
        while True:
            yield server.recv(65_536)
