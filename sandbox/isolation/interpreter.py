"""The Python that runs in the containers, and the folders that it needs there."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import InterpreterError

_NEEDED = ("ipykernel", "IPython", "zmq", "traitlets", "matplotlib", "numpy", "PIL")
# What is looked for, to tell users of cells what they can import; it is reported only where it is found.
_LIBRARIES = (
    *("numpy", "PIL", "matplotlib", "cv2", "scipy", "skimage", "pandas"),
    *("rapidocr", "rapidocr_onnxruntime", "pytesseract", "easyocr", "paddleocr", "pyzbar", "zxingcpp"),
    *("sklearn", "seaborn", "plotly", "sympy", "shapely", "networkx", "statsmodels", "numba"),
    *("torch", "torchvision", "transformers", "ultralytics", "tensorflow"),
)
_QUERY = """
import importlib.util, json, pathlib, sys
needed, libraries = (names.split(",") for names in sys.argv[1:])
found = [importlib.util.find_spec(name) for name in needed]
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    "packages": [str(pathlib.Path(one.origin).parent.parent) if one and one.origin else None for one in found],
    "libraries": [name for name in libraries if importlib.util.find_spec(name)],
}))
"""
_MAKE = "import matplotlib.font_manager"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with its environment, to be mounted read-only at the same paths."""

    executable: str
    folders: tuple[str, ...]  # outside of /usr, which every container mounts
    packages: tuple[str, ...]  # folders to import from, beyond the interpreter's own
    libraries: tuple[str, ...] = ()  # what cells can import and are likely to want

    @classmethod
    def current(cls) -> Interpreter:
        """The interpreter that runs this code."""
        prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
        executable = os.path.abspath(sys.executable)  # noqa: PTH100 - following links would leave its environment
        packages = [_folder_of(name) for name in _NEEDED]
        importable = {*packages, *site.getsitepackages()}
        libraries = [name for name in _LIBRARIES if _folder_of(name) in importable - {None}]
        return cls._build(executable, prefixes, packages, libraries)

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
        return cls._build(found["executable"], found["prefixes"], found["packages"], found["libraries"])

    @classmethod
    def _build(
        cls,
        executable: str,
        prefixes: Iterable[str],
        found: Iterable[str | None],
        libraries: Iterable[str],
    ) -> Interpreter:
        packages = tuple(sorted({folder for folder in found if folder}))
        folders = {*prefixes, *packages}
        mounted = _outermost(folders | {str(Path(folder).resolve()) for folder in folders})
        return cls(executable, mounted, packages, tuple(libraries))


def check_modules(folders: Iterable[str]) -> None:
    """Raises InterpreterError for a folder of `Policy.modules` that cannot be mounted."""
    for folder in folders:
        if not Path(folder).is_absolute() or not Path(folder).is_dir():
            raise InterpreterError(f"Policy.modules: {folder!r} is not the absolute path of a folder")


def _query(python: str) -> dict[str, Any]:
    command = [python, "-I", "-c", _QUERY, ",".join(_NEEDED), ",".join(_LIBRARIES)]
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
    try:
        found = importlib.util.find_spec(package)
    except ValueError:  # a module without a spec: somebody has put it into sys.modules
        return None
    return str(Path(found.origin).parent.parent) if found and found.origin else None


def _outermost(folders: set[str]) -> tuple[str, ...]:
    """The folders without those inside another one or inside /usr."""
    outermost: list[str] = []
    for folder in sorted(folders):
        if not any(Path(folder).is_relative_to(outer) for outer in ("/usr", *outermost)):
            outermost.append(folder)
    return tuple(outermost)


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
