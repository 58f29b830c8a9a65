"""The Python that runs in the containers, and the folders that it needs there."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import InterpreterError

_NEEDED = ("ipykernel", "IPython", "zmq", "traitlets", "matplotlib", "numpy", "PIL")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with its environment, to be mounted read-only at the same paths."""

    executable: str
    folders: tuple[str, ...]  # outside of /usr, which every container mounts
    packages: tuple[str, ...]  # folders to import from, beyond the interpreter's own

    @classmethod
    def current(cls) -> Interpreter:
        """The interpreter that runs this code."""
        prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
        executable = os.path.abspath(sys.executable)  # noqa: PTH100 - following links would leave its environment
        return cls._build(executable, prefixes, [_folder_of(name) for name in _NEEDED])

    @classmethod
    def of(cls, python: str) -> Interpreter:
        """Another interpreter, which is run to find its folders. Raises InterpreterError."""
        found = _query(python)
        missing = [name for name, folder in zip(_NEEDED, found["packages"], strict=True) if folder is None]
        if missing:
            raise InterpreterError(
                f"Policy.python: {python} lacks {', '.join(missing)}; install them: "
                f"{python} -m pip install ipykernel matplotlib numpy pillow"
            )
        return cls._build(found["executable"], found["prefixes"], found["packages"])

    @classmethod
    def _build(cls, executable: str, prefixes: Iterable[str], found: Iterable[str | None]) -> Interpreter:
        packages = tuple(sorted({folder for folder in found if folder}))
        folders = {*prefixes, *packages}
        return cls(
            executable, _outermost(folders | {str(Path(folder).resolve()) for folder in folders}), packages
        )


def check_modules(folders: Iterable[str]) -> None:
    """Raises InterpreterError for a folder of `Policy.modules` that cannot be mounted."""
    for folder in folders:
        if not Path(folder).is_absolute() or not Path(folder).is_dir():
            raise InterpreterError(f"Policy.modules: {folder!r} is not the absolute path of a folder")


_QUERY = """
import importlib.util, json, pathlib, sys
found = [importlib.util.find_spec(name) for name in sys.argv[1:]]
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    "packages": [str(pathlib.Path(one.origin).parent.parent) if one and one.origin else None for one in found],
}))
"""


def _query(python: str) -> dict[str, Any]:
    command = [python, "-I", "-c", _QUERY, *_NEEDED]
    try:
        answer = subprocess.run(
            command, env={}, capture_output=True, text=True, timeout=60, check=True
        ).stdout
        found: dict[str, Any] = json.loads(answer)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InterpreterError(
            f"Policy.python: {python} cannot be used ({error}); give the path of a Python interpreter"
        ) from error
    return found


def _folder_of(package: str) -> str | None:
    found = importlib.util.find_spec(package)
    return str(Path(found.origin).parent.parent) if found and found.origin else None


def _outermost(folders: set[str]) -> tuple[str, ...]:
    """The folders without those inside another one or inside /usr."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(Path(folder).is_relative_to(outer) for outer in ("/usr", *kept)):
            kept.append(folder)
    return tuple(kept)
