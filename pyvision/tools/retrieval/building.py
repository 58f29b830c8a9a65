"""Bring an index up to date with files: what is new, what changed, what is gone; or forget files.

Interrupted at any moment, by `kill -9` too, it goes on where the last batch ended when it is run again. A file
counts as unchanged while its size, its time and what is said of it elsewhere are; with another time its content
decides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from itertools import islice
from pathlib import Path

from pyvision.errors import ConfigError
from pyvision.images.read import format_name
from pyvision.tools.retrieval.captions import give_captions
from pyvision.tools.retrieval.entries import Complain, Counts, Found
from pyvision.tools.retrieval.image_descriptors import Describe, describer
from pyvision.tools.retrieval.readers import LARGEST, read_file
from pyvision.tools.retrieval.scan import Scan, check_root, scan
from pyvision.tools.retrieval.writer import Entry, Writer, open_writer

Step = Callable[[int, int], None]  # (files done, files in all)


def add(
    index: Path,
    roots: Sequence[str | Path],
    tell: Callable[[str], None],
    step: Step,
    embed: str | None = None,
) -> Counts:
    """Index files and folders; what was below a folder and is no more is forgotten. Raises ConfigError.

    tell: gets one line for each file that is left out. embed: the describer of pictures (`describers`), None for the
    one that the index has.
    """
    counts = Counts()

    def complain(path: str, why: str) -> None:
        counts.skipped += 1
        tell(f"{format_name(path)}: {' '.join(why.split())}")

    paths = [os.path.abspath(root) for root in roots]  # noqa: PTH100 - links stay as they were given
    for path in paths:
        check_root(path)
    with open_writer(index) as writer:
        describe = describer(writer.describer(embed))
        _update(_Update(writer, writer.entries(), counts, complain, describe), paths, step)
    return counts


def remove(index: Path, path: str | Path) -> int:
    """Forget a file, or all below a folder; returns how many files. Raises ConfigError when there is none."""
    root = os.path.abspath(path)  # noqa: PTH100 - as above
    if not index.is_file():
        raise ConfigError(f"index {str(index)!r}: there is none, so there is nothing to remove from it")
    with open_writer(index) as writer:
        gone = [entry.id for known, entry in writer.entries().items() if _is_below(known, [root])]
        if not gone:
            raise ConfigError(
                f"{root!r}: nothing of it is in the index; give a path as `index search` shows it"
            )
        for file in gone:
            writer.drop(file)
    return len(gone)


@dataclass(frozen=True, slots=True)
class _Update:
    writer: Writer
    known: Mapping[str, Entry]
    counts: Counts
    complain: Complain
    describe: Describe | None

    def bring(self, found: Found) -> None:
        """Make one file's entry what it is now."""
        entry = self.known.get(found.path)
        if entry and _is_unchanged(found, entry):
            self.counts.unchanged += 1
        elif found.size > LARGEST.get(found.kind, found.size):
            self.complain(
                found.path, f"is larger than {LARGEST[found.kind]:,} bytes; part it or scale it down"
            )
            if entry:
                self.writer.drop(entry.id)
        else:
            self._read(found, entry)

    def _read(self, found: Found, entry: Entry | None) -> None:
        try:
            with Path(found.path).open("rb") as file:
                sha256 = file_digest(file, "sha256").hexdigest()
        except OSError as error:  # it may be readable again tomorrow: its entry stays
            self.complain(found.path, f"cannot be read ({error.strerror}); see who may")
            return
        self._compare(found, sha256, entry)

    def forget(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.writer.drop(entry.id)
            self.counts.removed += 1

    def _compare(self, found: Found, sha256: str, entry: Entry | None) -> None:
        if entry is None:
            self.counts.added += self._write(found, self.writer.begin(found, sha256), 0)
        elif (sha256, found.companion) != (entry.sha256, entry.companion):
            self.writer.drop(entry.id)
            self.counts.changed += self._write(found, self.writer.begin(found, sha256), 0)
        else:
            self.writer.touch(entry.id, found)
            if entry.is_whole:
                self.counts.unchanged += 1
            else:
                self.counts.added += self._write(found, entry.id, entry.passages)

    def _write(self, found: Found, file: int, before: int) -> bool:
        """Write the passages of a file but for those that are there already; whether it could be done."""
        try:
            for passage, features in islice(read_file(found, self.describe), before, None):
                self.writer.write(file, passage, features)
                self.counts.passages += 1
        except (ConfigError, OSError) as error:
            self.writer.drop(file)
            self.complain(found.path, _reason(error, found.path))
            return False
        self.writer.end(file)
        self.counts.by_kind[found.kind] = self.counts.by_kind.get(found.kind, 0) + 1
        return True


def _update(update: _Update, roots: Sequence[str], step: Step) -> None:
    found = scan(roots, update.complain)
    give_captions(found, roots, update.complain)
    update.counts.other_kinds = found.other_kinds
    for number, file in enumerate(found.found.values(), 1):
        update.bring(file)
        step(number, len(found.found))
    update.forget(_gone(update.known, found, roots))


def _gone(known: Mapping[str, Entry], found: Scan, roots: Sequence[str]) -> list[Entry]:
    """What was below the roots and is no more; what could not be looked at does not count as gone."""
    return [
        entry
        for path, entry in known.items()
        if path not in found.found and _is_below(path, roots) and not _is_below(path, found.unread)
    ]


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _is_unchanged(found: Found, entry: Entry) -> bool:
    now = found.size, found.mtime_ns, found.companion, True
    return now == (entry.size, entry.mtime_ns, entry.companion, entry.is_whole)


def _reason(error: Exception, path: str) -> str:
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror}); see who may"
    return str(error).removeprefix(f"image {format_name(path)}: ")
