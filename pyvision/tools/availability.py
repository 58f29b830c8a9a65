"""Whether what a person chose with `--tool` can work on this machine: its packages, its program, its files are there.

Looked up and not loaded: a question is refused before anything is created, and not when a tool is first used.
Not covered: a folder that holds something else than a model, a name that the hub does not know, a service that is down.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TypeAlias

from pyvision.errors import ConfigError, MissingExtra

Check: TypeAlias = Callable[[str, str], None]  # of the tool and of what stands behind the colon


def check_presence(chosen: Mapping[str, object]) -> None:
    """Raises ConfigError for a provider that lacks what it needs. chosen: tool -> PROVIDER[:WHERE], or a Tool."""
    for tool, provider in chosen.items():
        if isinstance(provider, str):
            kind, _, where = provider.partition(":")
            CHECKS.get(kind, _nothing)(tool, where)


def _nothing(tool: str, where: str) -> None:
    """For providers that need nothing of this machine."""


def _network(tool: str, where: str) -> None:
    for package in ("torch", "transformers"):
        _package(package, "vision")
    folder = Path(where).expanduser()
    if where.startswith(("/", "./", "../", "~")) and not folder.exists():
        raise ConfigError(
            f"--tool {tool}=hf:{where}: there is no such folder; give a folder or a model's name"
        )


def _rapidocr(tool: str, where: str) -> None:
    _package("rapidocr", "ocr")


def _tesseract(tool: str, where: str) -> None:
    if which("tesseract") is None:
        way = "sudo apt-get install tesseract-ocr brings it"
        raise ConfigError(f"--tool {tool}=tesseract: the program tesseract is not installed; {way}")


def _ddgs(tool: str, where: str) -> None:
    if "only-cache" not in where.split(","):  # what is kept is read without it
        _package("ddgs", "web")


def _index(tool: str, where: str) -> None:
    from pyvision.tools.retrieval.database import index_path

    path = index_path(where, os.environ)
    if not path.is_file():
        way = "`pyvision index add PATH --index FILE` makes one"
        raise ConfigError(f"--tool {tool}=index: there is no index {str(path)!r}; {way}")


def _package(name: str, extra: str) -> None:
    if find_spec(name) is None:
        raise MissingExtra(name, extra)


CHECKS: Mapping[str, Check] = {
    "hf": _network,
    "rapidocr": _rapidocr,
    "tesseract": _tesseract,
    "ddgs": _ddgs,
    "index": _index,
}
