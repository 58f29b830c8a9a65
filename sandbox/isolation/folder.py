"""The private folder of one session on the host, and the removal of those whose host was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import weakref
from pathlib import Path

_PREFIX = "pyvision-sandbox-"
_MARK = ".of-a-sandbox"
_LONGEST = 60  # the path of a Unix socket has 107 bytes at most
_NEW_S = 60.0  # a folder this young may be one that its host is about to lock


class PrivateFolder:
    """Readable by the caller's user alone, and locked for as long as its host lives."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
        (self.path / _MARK).touch()
        lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def close(self) -> None:
        """Remove it with all that it holds. Also happens when the host exits without."""
        self._finalizer()


def sweep() -> None:
    """Remove the folders of hosts that were killed: they hold copies of people's images."""
    for path in _parent().glob(f"{_PREFIX}*"):
        try:
            status = path.lstat()
            if not (path / _MARK).exists():
                continue  # somebody's own folder, which happens to have this name
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _NEW_S:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # gone meanwhile, or none of ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)  # its host lives
        else:
            _remove(path, lock)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)


def _parent() -> Path:
    folder = tempfile.gettempdir()
    return Path(folder if len(folder) <= _LONGEST else "/tmp")
