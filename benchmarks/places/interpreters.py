"""Interpreters laid out as tools lay them out, each with the packages of this one.

Debian's python3 is the program in all of them, because it needs no library outside of /usr. Not covered: the builds of
conda and of python-build-standalone themselves, whose layout alone is made here, and interpreters linked to musl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from sandbox.isolation.interpreter import Interpreter

_DEBIAN = "/usr/bin/python3"
_USER = 1001
_SHIM = '#!/bin/sh\nexport PYENV_VERSION=test\nexec "{python}" "$@"\n'
_WHERE = "import site; print(site.getsitepackages()[-1])"
_VERSION = "import sys; print(*sys.version_info[:2])"


class InterpreterMissingError(Exception):
    """An interpreter of this kind cannot be made here, for the reason given."""


def build(kind: str, folder: Path) -> str:
    """The path of a new interpreter of this kind, below the folder. Raises InterpreterMissingError."""
    if _output(_DEBIAN, "-c", _VERSION) != " ".join(map(str, sys.version_info[:2])):
        raise InterpreterMissingError(f"{_DEBIAN} is not of this version, and the packages are of this one")
    make, program = KINDS[kind]
    home = folder / f"python of {kind}"
    python = str(home / program)
    if home.exists():
        return python
    home.mkdir()
    try:
        make(home)
    except InterpreterMissingError:
        shutil.rmtree(home)  # or the next place would take it for made
        raise
    packages = Path(_output(python, "-c", _WHERE))
    packages.mkdir(parents=True, exist_ok=True)
    shared = "".join(f"{path}\n" for path in Interpreter.current().packages)
    (packages / "shared.pth").write_text(shared, encoding="utf-8")
    return python


def _make_environment(home: Path) -> None:
    _output(_DEBIAN, "-m", "venv", "--without-pip", str(home / "venv"))


def _make_prefix(prefix: Path) -> None:
    """A whole Python in one folder, as conda and python-build-standalone have it."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / version).write_bytes(Path(_DEBIAN).read_bytes())
    (prefix / "bin" / version).chmod(0o755)
    (prefix / "bin" / "python").symlink_to(version)
    ignored = shutil.ignore_patterns("__pycache__", "test", "dist-packages")
    shutil.copytree(f"/usr/lib/{version}", prefix / "lib" / version, ignore=ignored)


def _make_conda(home: Path) -> None:
    """Like conda's: no virtual environment, a `conda-meta` folder, and the prefix belongs to the user."""
    _make_prefix(home)
    (home / "conda-meta").mkdir()
    if os.getuid() == 0:
        for path in (home, *home.rglob("*")):
            os.chown(path, _USER, _USER, follow_symlinks=False)


def _make_uv(home: Path) -> None:
    """A virtual environment that uv makes of a Python in a tree of its own."""
    uv = shutil.which("uv")
    if uv is None:
        raise InterpreterMissingError("uv is missing")
    base = home / "share" / "uv" / "python" / "cpython-linux-x86_64-gnu"
    _make_prefix(base)
    _output(uv, "venv", "--offline", "--no-config", "--python", str(base / "bin/python"), str(home / ".venv"))


def _make_pyenv(home: Path) -> None:
    """Like pyenv's: the program in PATH is a script that starts one of several Pythons."""
    version = home / "versions" / "test"
    _make_prefix(version)
    (home / "shims").mkdir()
    shim = home / "shims" / "python"
    shim.write_text(_SHIM.format(python=version / "bin/python"), encoding="utf-8")
    shim.chmod(0o755)


KINDS: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "Debian": (_make_environment, "venv/bin/python"),
    "conda": (_make_conda, "bin/python"),
    "uv": (_make_uv, ".venv/bin/python"),
    "pyenv": (_make_pyenv, "shims/python"),
}
"""How each is made, and where its program is."""


def _output(*words: str) -> str:
    """What a command prints. Raises InterpreterMissingError."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    except OSError as error:
        raise InterpreterMissingError(f"{error}") from error
    if done.returncode != 0:
        raise InterpreterMissingError(f"{words[0]}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.strip()
