"""Canaries among the files of the host: two secrets, and a folder that anybody may write to."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

_SOCKET = "socket"  # of the listeners; the only thing that belongs into the folder


class Files:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        temp, name = Path(tempfile.gettempdir()), f"canary-{secrets.token_hex(6)}"
        self._secret_file = temp / f"{name}.txt"
        self._home_file = home_folder() / f".{name}.txt"
        self._outside = temp / name
        self._outside.mkdir()
        self._outside.chmod(0o777)
        for path in (self._secret_file, self._home_file):
            path.write_text(secret)
            path.chmod(0o666)
        self.target: dict[str, Any] = {
            "secret_file": str(self._secret_file),
            "home_file": str(self._home_file),
            "outside": str(self._outside),
        }

    def harm(self, marker: str) -> str | None:
        """Whether a file was changed, or one was made outside."""
        for path in (self._secret_file, self._home_file):
            if not path.is_file() or path.read_text(errors="replace") != self._secret:
                return f"{path} was changed"
        if not self._outside.is_dir():
            return f"{self._outside} was removed"
        made = [path for path in self._outside.iterdir() if path.name != _SOCKET]
        return f"{made[0]} was made" if made else None

    def close(self) -> None:
        """Remove them."""
        self._secret_file.unlink(missing_ok=True)
        self._home_file.unlink(missing_ok=True)
        shutil.rmtree(self._outside, ignore_errors=True)


def home_folder() -> Path:
    """The home of this user, or the temporary folder for one whose home cannot be written."""
    home = Path.home()
    return home if os.access(home, os.W_OK) else Path(tempfile.gettempdir())
