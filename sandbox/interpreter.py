"""Which Python runs in the rooms, and the folders that it needs there."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

_NEEDED = ("ipykernel", "IPython", "zmq", "traitlets", "matplotlib", "numpy", "PIL")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The host's own Python with its environment, to be mounted read-only at the same paths."""

    executable: str
    folders: tuple[str, ...]  # outside of /usr, which every room has
    packages: tuple[str, ...]  # folders to import from, beyond the interpreter's own

    @classmethod
    def current(cls) -> Interpreter:
        packages = tuple(sorted({folder for name in _NEEDED if (folder := _folder_of(name))}))
        homes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *packages)
        return cls(
            sys.executable, _outermost({*homes, *(str(Path(home).resolve()) for home in homes)}), packages
        )


def _folder_of(package: str) -> str | None:
    found = importlib.util.find_spec(package)
    return str(Path(found.origin).parent.parent) if found and found.origin else None


def _outermost(folders: set[str]) -> tuple[str, ...]:
    """The folders without those that lie in another one, or in /usr."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(Path(folder).is_relative_to(outer) for outer in ("/usr", *kept)):
            kept.append(folder)
    return tuple(kept)
