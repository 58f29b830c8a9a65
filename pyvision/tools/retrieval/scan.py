"""Find the files to index below some folders: sorted, each folder once, hidden files excluded."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from pyvision.errors import ConfigError
from pyvision.tools.retrieval.passages import Passage

Kind: TypeAlias = Literal["picture", "text", "markdown", "records", "pdf"]
OnSkip: TypeAlias = Callable[[str, str], None]  # takes a path and why it is skipped


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to index. path: absolute. companion: fingerprint of other files that its index entry depends on.

    caption: of an image, if there is one. caption_passages: how many of its first passages are an image's caption.
    missing_images: images that its records name and that do not exist; these records become passages.
    """

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    companion: str = ""
    caption: Passage | None = None
    caption_passages: int = 0
    missing_images: frozenset[str] = frozenset()


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
    """The files by path. unread: paths that could not be read; other_kinds: number of files of other kinds."""

    files: dict[str, SourceFile] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    other_kinds: int = 0


def scan(roots: Sequence[str], on_skip: OnSkip) -> Scan:
    """Every file to index below absolute paths. Raises ConfigError for an unusable path."""
    result = Scan()
    walker = _FolderWalker(on_skip, result.unread)
    for root in roots:
        if file := check_root(root):
            result.files[root] = file
        else:
            for entry in walker.files(root):
                _add_file(result, entry.path, on_skip)
    return result


def check_root(path: str) -> SourceFile | None:
    """The file at a path, None for a folder. Raises ConfigError if it is missing, of an unknown kind, or not UTF-8."""
    if path.encode(errors="replace").decode() != path:
        raise ConfigError(f"{path!r}: the path is not UTF-8; rename it")
    return None if os.path.isdir(path) else _root(path)  # noqa: PTH112 - strings: there may be 100,000 paths


def stat_file(path: str) -> SourceFile:
    """The current state of a file. Raises OSError, also for a kind that is not indexed."""
    status = os.stat(path)  # noqa: PTH116 - as above
    kind = kind_of(path)
    if kind is None or not stat.S_ISREG(status.st_mode):
        raise OSError(0, "is of a kind that is not indexed")
    return SourceFile(path, kind, status.st_size, status.st_mtime_ns)


def kind_of(path: str) -> Kind | None:
    """The kind by the suffix of the name; None if it is not indexed."""
    return KINDS.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - as above


def _add_file(result: Scan, path: str, on_skip: OnSkip) -> None:
    if kind_of(path) is None:
        result.other_kinds += 1
        return
    try:
        result.files[path] = stat_file(path)
    except OSError as error:
        result.unread.append(path)
        on_skip(path, f"cannot be read ({error.strerror})")


def _root(path: str) -> SourceFile:
    try:
        return stat_file(path)
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path!r}: there is no such file or folder; remove its entries with `pyvision index remove PATH`"
        ) from error
    except OSError as error:
        known = " ".join(KINDS)
        raise ConfigError(
            f"{path!r}: {error.strerror}; give a folder, or a file with one of these suffixes: {known}"
        ) from error
    except ValueError as error:  # a NUL in the name
        raise ConfigError(f"{path!r}: the path contains a NUL character; check the path") from error


@dataclass(slots=True)
class _FolderWalker:
    """Walks through one or several folders. unread: folders that could not be read.

    Links to folders are followed last, and only to folders that were not visited yet, so that cyclic links end.
    """

    on_skip: OnSkip
    unread: list[str] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def files(self, root: str) -> Iterator[os.DirEntry[str]]:
        """Every regular file below a folder; hidden files and hidden folders are excluded."""
        folders, links = deque([root]), deque[str]()
        while folders or links:
            folder = folders.popleft() if folders else links.popleft()
            for entry in self._entries(folder):
                if self._is_folder(entry):
                    (links if entry.is_symlink() else folders).append(entry.path)
                elif self._is_file(entry):
                    yield entry

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            if not self._is_new(folder):
                return []
            with os.scandir(folder) as entries:
                return sorted((one for one in entries if self._is_wanted(one)), key=lambda one: one.name)
        except OSError as error:
            self.unread.append(folder)
            self.on_skip(folder, f"cannot be read ({error.strerror}); check its permissions")
            return []

    def _is_new(self, folder: str) -> bool:
        status = os.stat(folder)  # noqa: PTH116 - strings: there may be 100,000 paths
        identity = status.st_dev, status.st_ino
        if identity in self._seen:
            if os.path.islink(folder):  # noqa: PTH114 - as above
                self.on_skip(folder, "is a link to a folder that was visited already")
            return False
        self._seen.add(identity)
        return True

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith("."):
            return False
        try:
            entry.name.encode()
        except UnicodeEncodeError:
            self.on_skip(entry.path, "has a name that is not UTF-8; rename it")
            return False
        return True

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError:  # a link to itself; reported with the files
            return False

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_file():
                return True
            why = "is a broken link" if entry.is_symlink() else "is a pipe, a socket or a device"
        except OSError as error:
            why = f"is a link that cannot be resolved ({error.strerror})"
        self.on_skip(entry.path, why)
        return False
