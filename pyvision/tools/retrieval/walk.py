"""Find the files of a folder: sorted, each folder once, hidden ones not at all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from pyvision.tools.retrieval.entries import Complain


@dataclass(slots=True)
class Walk:
    """One walk through one or several roots. unread: folders that could not be read, which says nothing of their files.

    Links to folders are followed last, and only into folders that were not seen by then: links in a ring end.
    """

    complain: Complain
    unread: list[str] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def files(self, root: str) -> Iterator[os.DirEntry[str]]:
        """Every regular file below a folder whose name, and whose folders' names, do not begin with a dot."""
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
            self.complain(folder, f"cannot be read ({error.strerror}); see who may")
            return []

    def _is_new(self, folder: str) -> bool:
        status = os.stat(folder)  # noqa: PTH116 - paths are text here: there may be 100,000
        identity = status.st_dev, status.st_ino
        if identity in self._seen:
            if os.path.islink(folder):  # noqa: PTH114 - likewise
                self.complain(folder, "is a link to a folder that is walked already")
            return False
        self._seen.add(identity)
        return True

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith("."):
            return False
        try:
            entry.name.encode()
        except UnicodeEncodeError:
            self.complain(entry.path, "has a name that is no UTF-8; rename it")
            return False
        return True

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError:  # a link to itself; told as a file
            return False

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_file():
                return True
            why = "is a link that leads nowhere" if entry.is_symlink() else "is a pipe, a socket or a device"
        except OSError as error:
            why = f"is a link that cannot be followed ({error.strerror})"
        self.complain(entry.path, why)
        return False
