"""matplotlib's font list, made once per user: otherwise every container would spend seconds on it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

from sandbox.isolation.interpreter import Interpreter

_MAKE = "import matplotlib.font_manager"


def font_lists(interpreter: Interpreter) -> tuple[Path, ...]:
    """The font lists; empty if they can be neither found nor made, which only costs time."""
    folder = _cache_home() / "pyvision-sandbox" / "matplotlib" / _key(interpreter)
    found = _lists(folder)
    if found:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            _make(interpreter, made)
            for path in _lists(Path(made)):
                path.chmod(0o644)
                # Never replace another process's list: a container may be about to mount it, which then fails.
                with contextlib.suppress(FileExistsError):
                    (folder / path.name).hardlink_to(path)
    except (OSError, subprocess.SubprocessError):
        return ()
    return _lists(folder)


def _make(interpreter: Interpreter, folder: str) -> None:
    # A separate home folder: fonts of the user would be listed but missing in the container.
    environment = {"MPLCONFIGDIR": folder, "HOME": folder, "PATH": os.defpath}
    command = [interpreter.executable, "-I", "-c", _MAKE]
    subprocess.run(command, env=environment, check=True, timeout=120, capture_output=True)


def _lists(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("fontlist-*.json")))


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _key(interpreter: Interpreter) -> str:
    """One list per environment: it contains the paths of the fonts that matplotlib ships."""
    return str(Path(interpreter.executable).parent).strip("/").replace("/", "-")
