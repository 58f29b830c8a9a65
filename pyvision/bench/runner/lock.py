"""One runner for one folder: a lock that goes with the process that holds it, however that ends."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from pyvision.errors import ConfigError, RunFolderError

_FILE = "runner.lock"


class Lock:
    """The lock on a folder, held until `close`. Raises ConfigError when another runner holds it.

    Not covered: file systems on which flock does nothing between machines, as some network ones.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / _FILE
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{str(path)!r}: {error.strerror}; choose another --out") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._sign()
        except BlockingIOError:
            holder = os.read(self._descriptor, 200).decode(errors="replace").strip() or "another process"
            os.close(self._descriptor)
            raise ConfigError(
                f"{str(folder)!r}: {holder} is writing here; wait for it, or choose another --out"
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise RunFolderError(
                f"{str(path)!r}: {error.strerror}; choose another --out, or make room"
            ) from error

    def close(self) -> None:
        """Let the next one in. Twice is once."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _sign(self) -> None:
        """Say who holds it, for the one who is refused."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
