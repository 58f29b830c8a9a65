"""Canaries in the shared memory of the host, of both kinds, which anybody may read and write."""

from __future__ import annotations

import ctypes
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Any

_CREATE = 0o1000 | 0o2000  # IPC_CREAT | IPC_EXCL
_REMOVE = 0  # IPC_RMID
_SIZE = 4096


class SystemVSegment:
    def __init__(self, secret: str) -> None:
        """Raises OSError."""
        self._secret = secret.encode()
        key = secrets.randbelow(2**30) + 1
        self._number = _called("shmget", key, _SIZE, _CREATE | 0o666)
        self._address = _called("shmat", self._number, None, 0)
        ctypes.memmove(self._address, self._secret, len(self._secret))
        self.target: dict[str, Any] = {"shm_key": key}

    def harm(self, marker: str) -> str | None:
        """Whether it holds something else now."""
        changed = ctypes.string_at(self._address, len(self._secret)) != self._secret
        return "a System V segment of the host was changed" if changed else None

    def close(self) -> None:
        """Remove it."""
        _libc().shmdt(ctypes.c_void_p(self._address))
        _libc().shmctl(self._number, _REMOVE, None)


class PosixSegment:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._path = Path("/dev/shm", f"sandbox-check-{secrets.token_hex(6)}")
        self._path.write_text(secret)
        self._path.chmod(0o666)
        self.target: dict[str, Any] = {"shm_name": f"/{self._path.name}"}

    def harm(self, marker: str) -> str | None:
        """Whether it holds something else now, or is gone."""
        is_whole = self._path.exists() and self._path.read_text(errors="replace") == self._secret
        return None if is_whole else "a POSIX segment of the host was changed"

    def close(self) -> None:
        """Remove it."""
        self._path.unlink(missing_ok=True)


def _called(function: str, *arguments: Any) -> int:
    result = getattr(_libc(), function)(*arguments)
    if result in (-1, ctypes.c_void_p(-1).value):
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")
    return int(result)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    return libc
