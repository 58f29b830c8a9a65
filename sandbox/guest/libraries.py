"""The libraries of cells: names that need no import, and advice where a library is missing.

Models forget imports, try libraries that are not installed, and try to install them. A name that needs no import is an
attribute of `builtins`, so it is no variable of the cell, and the library loads when the name is first used.
Not covered: programs that a cell starts itself; pip finds nothing there (PIP_NO_INDEX).
"""

from __future__ import annotations

import builtins
import errno
import importlib
import logging
import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_ALIASES = {"pd": "pandas", "sns": "seaborn", "nx": "networkx", "ndimage": "scipy.ndimage"} | {
    f"Image{each}": f"PIL.Image{each}"
    for each in ["Chops", "Draw", "Enhance", "Filter", "Font", "Ops", "Stat"]
}
_USUAL = ("cv2", "scipy", "skimage", "pandas", "rapidocr", "numpy", "matplotlib", "PIL")
_STANDARD = (
    *("base64", "collections", "colorsys", "copy", "csv", "datetime", "functools", "glob", "hashlib"),
    *("heapq", "io", "itertools", "json", "math", "operator", "os", "random", "re", "statistics"),
    *("string", "sys", "time"),
)
_OCR = ("easyocr", "keras_ocr", "paddleocr", "pytesseract", "rapidocr_onnxruntime", "tesserocr")
_INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")
_INSTALL = re.compile(
    r"\s*(?:sudo\s+)?(?:\S*python[\d.]*\s+-m\s+)?(?:\S*/)?(?:pip[\d.]*|uv|conda|mamba|micromamba|apt|apt-get)\s+\w"
)
_SHOWN_COMMAND_CHARS = 100


class LazyModule(ModuleType):
    """Stands for a module until one of its attributes is used; then the module replaces it in `builtins`."""

    def __init__(self, alias: str, module: str) -> None:
        super().__init__(module)
        self.__dict__["_alias"] = alias

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._load(), name, value)

    def __dir__(self) -> Iterable[str]:
        return dir(self._load())

    def __repr__(self) -> str:
        return repr(self._load())

    def _load(self) -> ModuleType:
        module = importlib.import_module(self.__name__)
        names, alias = vars(builtins), self.__dict__["_alias"]
        if names.get(alias) is self:
            names[alias] = module
        return module


class Libraries:
    """What the cells of a session can import."""

    def __init__(self, found: Iterable[str]) -> None:
        """found: the names of libraries that are installed, as the host has found them."""
        self._found = tuple(found)
        modules = {name: name for name in (*_STANDARD, *_USUAL, *self._found)} | _ALIASES
        self._lazy = {alias: LazyModule(alias, module) for alias, module in modules.items()}

    def bind(self) -> None:
        """Let cells use these names without an import."""
        for alias, module in self._lazy.items():
            vars(builtins).setdefault(alias, module)
        logging.getLogger("RapidOCR").addFilter(lambda record: record.levelno >= logging.WARNING)

    def replace_installers(self, shell: Any) -> None:
        """Let `%pip` and the like say at once that they cannot install anything."""
        for name in _INSTALLERS:
            shell.register_magic_function(self._refuse, "line", name)

    def _refuse(self, arguments: str) -> None:
        """Nothing can be installed here."""
        print(self.refusal)

    @property
    def refusal(self) -> str:
        return f"Nothing can be installed: there is no network. {self._list_installed()}"

    def refuses(self, command: str) -> bool:
        """Whether a line for the shell would install something."""
        return _INSTALL.match(command[:_SHOWN_COMMAND_CHARS]) is not None

    def advise(self, error: BaseException) -> str | None:
        """What the author of a cell has to know about this error, besides its own message."""
        match error:
            case ModuleNotFoundError(name=str(name)) if not _is_installed(name.partition(".")[0]):
                return self._advise_on_module(name.partition(".")[0])
            case SyntaxError(text=str(line)) if self.refuses(line):
                return self.refusal
            case OSError(errno=errno.EROFS | errno.EACCES, filename=str(file)) if Path(file).is_symlink():
                return f"{file!r} is a file of the user, which cannot be changed; choose another name."
        return None

    def _advise_on_module(self, name: str) -> str:
        instead = (
            " To read text, use rapidocr.RapidOCR()(image).txts."
            if name in _OCR and "rapidocr" in self._found
            else ""
        )
        return (
            f"{name} is not installed, and cannot be: there is no network.{instead} {self._list_installed()}"
        )

    def _list_installed(self) -> str:
        return f"Installed: {', '.join(self._found) or 'the standard library'}."


def _is_installed(name: str) -> bool:
    try:
        return name in sys.modules or find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False
