"""Scripts that run as an ordinary user, on a machine where the tests are root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
_UID = 1001
_FIND = "import sandbox, os, sys; os.listdir(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class OrdinaryUser:
    """One with this home, who may read the interpreter and this repository."""

    home: Path

    def run(self, script: str) -> str:
        """What a Python script prints. Raises AssertionError with its standard error where it fails."""
        done = subprocess.run(
            [*_as_user(), sys.executable, "-c", script],
            cwd=ROOT,
            env={**_environment(), "HOME": str(self.home), "TMPDIR": str(self.home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def ordinary_user() -> Iterator[OrdinaryUser]:
    """Skips the test where there is no way to be one."""
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to become an ordinary user")
    with TemporaryDirectory(prefix="user-", dir="/tmp") as home:
        if os.getuid() == 0:
            os.chown(home, _UID, _UID)
        tried = subprocess.run(
            [*_as_user(), sys.executable, "-c", _FIND, sys.base_prefix],
            cwd=ROOT,
            env=_environment(),
            capture_output=True,
            check=False,
        )
        if tried.returncode != 0:
            pytest.skip(f"user {_UID} cannot read {sys.executable}, its packages or {ROOT}")
        yield OrdinaryUser(Path(home))


def _as_user() -> list[str]:
    drop = ["setpriv", "--reuid", str(_UID), "--regid", str(_UID), "--clear-groups", "--no-new-privs"]
    return drop if os.getuid() == 0 else []


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
