"""Say what is to be indexed below some roots: every file of a known kind."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pyvision.errors import ConfigError
from pyvision.tools.retrieval.entries import Complain, Found, Kind
from pyvision.tools.retrieval.walk import Walk

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(
            (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"), "picture"
        ),
        **dict.fromkeys((".txt", ".text"), "text"),
        **dict.fromkeys((".md", ".markdown"), "markdown"),
        **dict.fromkeys((".jsonl", ".ndjson"), "records"),
        ".pdf": "pdf",
    }
)


@dataclass(slots=True)
class Scan:
    """What a scan found, by path. unread: what could not be read, of which nothing is known now.

    other_kinds: how many files there are that are not indexed.
    """

    found: dict[str, Found] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    other_kinds: int = 0


def scan(roots: Sequence[str], complain: Complain) -> Scan:
    """Every file to index below absolute paths. Raises ConfigError for a root that cannot be used."""
    result = Scan()
    walk = Walk(complain, result.unread)
    for root in roots:
        if file := check_root(root):
            result.found[root] = file
        else:
            for entry in walk.files(root):
                _take(result, entry.path, complain)
    return result


def check_root(path: str) -> Found | None:
    """The file at a path, None for a folder. Raises ConfigError for one that is not there, or of no known kind."""
    return None if os.path.isdir(path) else _root(path)  # noqa: PTH112 - paths are text here: there may be 100,000


def stat_file(path: str) -> Found:
    """A file as it is now. Raises OSError, also for one that is not indexed."""
    status = os.stat(path)  # noqa: PTH116 - likewise
    kind = kind_of(path)
    if kind is None or not stat.S_ISREG(status.st_mode):
        raise OSError(0, "is of a kind that is not indexed")
    return Found(path, kind, status.st_size, status.st_mtime_ns)


def kind_of(path: str) -> Kind | None:
    """What the ending of a name says; None for what is not indexed."""
    return KINDS.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - likewise


def _take(result: Scan, path: str, complain: Complain) -> None:
    if kind_of(path) is None:
        result.other_kinds += 1
        return
    try:
        result.found[path] = stat_file(path)
    except OSError as error:
        result.unread.append(path)
        complain(path, f"cannot be read ({error.strerror})")


def _root(path: str) -> Found:
    try:
        return stat_file(path)
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path!r}: there is no such file or folder; `pyvision index remove PATH` forgets what was there"
        ) from error
    except OSError as error:
        known = " ".join(KINDS)
        raise ConfigError(
            f"{path!r}: {error.strerror}; give a folder, or a file of these: {known}"
        ) from error
    except ValueError as error:  # a NUL in the name
        raise ConfigError(f"{path!r}: no file can have this name; check the path") from error
