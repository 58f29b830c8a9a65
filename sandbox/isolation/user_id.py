"""One user id of the host for each container, where the host is root and can hand them out."""

from __future__ import annotations

import os
import socket

from sandbox.errors import SandboxError

_FIRST = 1_800_000_000  # far from what user databases, containers and systemd hand out
_COUNT = 4096


class UserId:
    """A user id that no other live container of this machine has, held until `close`.

    The number of processes is limited by user. The claim is an abstract socket: it goes with the process that
    holds it, and leaves no file behind.
    """

    def __init__(self) -> None:
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(_COUNT):
            self.number = _FIRST + (start + step) % _COUNT
            self._claim = socket.socket(socket.AF_UNIX)
            try:
                self._claim.bind(f"\0sandbox-uid-{self.number}")
            except OSError:
                self._claim.close()  # another container's
                continue
            return
        raise SandboxError(f"all {_COUNT} user ids for containers are taken; close some sessions")

    def close(self) -> None:
        self._claim.close()
