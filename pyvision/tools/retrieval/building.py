"""Update an index: add new files, read changed files again, remove missing files; or remove files by path.

An update that is interrupted, even by `kill -9`, continues after its last batch when it is run again. A file counts as
unchanged if its size, modification time and captions are the same; if only the time differs, its hash decides. The
caption of an image comes from a file with the same stem next to it, or else from records that name the image.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from pyvision.errors import ConfigError
from pyvision.images.read import format_name
from pyvision.tools.retrieval.database import IndexedFile, Writer, open_writer
from pyvision.tools.retrieval.image_features import Embed, load_embedder
from pyvision.tools.retrieval.passages import Passage
from pyvision.tools.retrieval.readers import (
    MAX_BYTES,
    PassageLine,
    find_sidecar,
    join_captions,
    read_file,
    records_in,
    sidecar_passages,
)
from pyvision.tools.retrieval.scan import OnSkip, Scan, SourceFile, check_root, kind_of, scan, stat_file

CAPTION_FILES = ("captions.jsonl", "metadata.jsonl")  # read also if only an image next to it is added
Progress: TypeAlias = Callable[[int, int], None]  # takes the number of files done and of all files


@dataclass(slots=True)
class IndexProgress:
    """What one `index add` did, in files; updated while it runs."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    other_kinds: int = 0  # of kinds that are not indexed
    passages: int = 0  # written
    by_kind: dict[str, int] = field(default_factory=dict)  # added or changed


def add(
    index: Path,
    roots: Sequence[str | Path],
    report: Callable[[str], None],
    progress: Progress,
    embed: str | None = None,
) -> IndexProgress:
    """Index files and folders; files that are missing from a folder are removed from the index. Raises ConfigError.

    report: gets one line for each skipped file. embed: the name of the embedder for images, None for the index's own.
    """
    counts = IndexProgress()

    def on_skip(path: str, why: str) -> None:
        counts.skipped += 1
        report(f"{format_name(path)}: {' '.join(why.split())}")

    paths = [os.path.abspath(root) for root in roots]  # noqa: PTH100 - resolve() would follow links
    for path in paths:
        check_root(path)
    with open_writer(index) as writer:
        embedder = load_embedder(writer.choose_embedder(embed))
        _update(_Update(writer, writer.entries(), counts, on_skip, embedder), paths, progress)
    return counts


def remove(index: Path, path: str | Path) -> int:
    """Remove a file, or all below a folder; returns how many files. Raises ConfigError if there are none."""
    root = os.path.abspath(path)  # noqa: PTH100 - as above
    if not index.is_file():
        raise ConfigError(f"index {str(index)!r}: no such file, so nothing can be removed")
    with open_writer(index) as writer:
        gone = [entry.id for known, entry in writer.entries().items() if _is_below(known, [root])]
        if not gone:
            raise ConfigError(f"{root!r}: not in the index; give a path as `index search` shows it")
        for file in gone:
            writer.delete(file)
    return len(gone)


@dataclass(frozen=True, slots=True)
class _Update:
    writer: Writer
    known: Mapping[str, IndexedFile]
    counts: IndexProgress
    on_skip: OnSkip
    embed: Embed | None

    def update(self, source: SourceFile) -> None:
        """Bring the entry of one file up to date."""
        entry = self.known.get(source.path)
        if entry and _is_unchanged(source, entry):
            self.counts.unchanged += 1
        elif source.size > MAX_BYTES.get(source.kind, source.size):
            self.on_skip(
                source.path, f"is larger than {MAX_BYTES[source.kind]:,} bytes; split it or scale it down"
            )
            if entry:
                self.writer.delete(entry.id)
        else:
            self._read(source, entry)

    def _read(self, source: SourceFile, entry: IndexedFile | None) -> None:
        try:
            with Path(source.path).open("rb") as file:
                sha256 = file_digest(file, "sha256").hexdigest()
        except OSError as error:  # it may become readable again, so its entry stays
            self.on_skip(source.path, f"cannot be read ({error.strerror}); check its permissions")
            return
        self._compare(source, sha256, entry)

    def remove(self, entries: Iterable[IndexedFile]) -> None:
        for entry in entries:
            self.writer.delete(entry.id)
            self.counts.removed += 1

    def _compare(self, source: SourceFile, sha256: str, entry: IndexedFile | None) -> None:
        if entry is None:
            self.counts.added += self._write(source, self.writer.begin(source, sha256), 0)
        elif (sha256, source.companion) != (entry.sha256, entry.companion):
            self.writer.delete(entry.id)
            self.counts.changed += self._write(source, self.writer.begin(source, sha256), 0)
        else:
            self.writer.touch(entry.id, source)
            if entry.is_whole:
                self.counts.unchanged += 1
            else:
                self.counts.added += self._write(source, entry.id, entry.passages)

    def _write(self, source: SourceFile, file: int, before: int) -> bool:
        """Write the passages of a file except the first `before`, which exist; returns whether that worked."""
        try:
            for passage, features in islice(read_file(source, self.embed), before, None):
                self.writer.write(file, passage, features)
                self.counts.passages += 1
        except (ConfigError, OSError) as error:
            self.writer.delete(file)
            self.on_skip(source.path, _reason(error, source.path))
            return False
        self.writer.end(file)
        self.counts.by_kind[source.kind] = self.counts.by_kind.get(source.kind, 0) + 1
        return True


def _update(update: _Update, roots: Sequence[str], progress: Progress) -> None:
    found = scan(roots, update.on_skip)
    _add_captions(found, roots, update.on_skip)
    update.counts.other_kinds = found.other_kinds
    for number, file in enumerate(found.files.values(), 1):
        update.update(file)
        progress(number, len(found.files))
    update.remove(_missing_entries(update.known, found, roots))


def _missing_entries(
    known: Mapping[str, IndexedFile], found: Scan, roots: Sequence[str]
) -> list[IndexedFile]:
    """Entries below the roots whose file is missing; files in unreadable folders do not count."""
    return [
        entry
        for path, entry in known.items()
        if path not in found.files and _is_below(path, roots) and not _is_below(path, found.unread)
    ]


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _is_unchanged(source: SourceFile, entry: IndexedFile) -> bool:
    now = source.size, source.mtime_ns, source.companion, True
    return now == (entry.size, entry.mtime_ns, entry.companion, entry.is_whole)


def _reason(error: Exception, path: str) -> str:
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror}); check its permissions"
    return str(error).removeprefix(f"image {format_name(path)}: ")


@dataclass(frozen=True, slots=True)
class _Captions:
    """Captions from records. by_image: path -> captions; missing: records file -> images that do not exist."""

    by_image: defaultdict[str, list[Passage]] = field(default_factory=lambda: defaultdict(list))
    missing: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def _add_captions(found: Scan, roots: Sequence[str], on_skip: OnSkip) -> None:
    """Add captions to the images of a scan, and images that only records name.

    A file with the same stem takes precedence over records; only what follows its first passage is indexed as text.
    A record whose image does not exist is indexed as a passage.
    """
    captions = _Captions()
    for path in _records_files(found, roots):
        for record in _records(path, on_skip):
            _add_record(found, captions, path, record, on_skip)
    for path, images in captions.missing.items():
        digest = _digest("\n".join(sorted(images)))
        found.files[path] = replace(found.files[path], missing_images=frozenset(images), companion=digest)
    for picture in [one for one in found.files.values() if one.kind == "picture"]:
        _caption(found, picture, captions.by_image, on_skip)


def _add_record(found: Scan, captions: _Captions, path: str, record: PassageLine, on_skip: OnSkip) -> None:
    image = record.image
    if not image or image in captions.missing.get(path, ()):
        return
    try:
        if image not in found.files and path in found.files:
            _check_picture(image)
            found.files[image] = stat_file(image)
        captions.by_image[image].append(record.passage)
    except OSError as error:
        captions.missing[path].add(image)
        on_skip(image, f"is named in {Path(path).name!r} but cannot be used ({error.strerror})")


def _check_picture(path: str) -> None:
    if kind_of(path) != "picture":
        raise OSError(0, "the file is not an image")


def _records_files(found: Scan, roots: Sequence[str]) -> list[str]:
    own = [path for path, file in found.files.items() if file.kind == "records"]
    pictures = (root for root in roots if kind_of(root) == "picture")
    beside = {str(Path(root).parent / name) for root in pictures for name in CAPTION_FILES}
    return [*own, *(path for path in sorted(beside) if path not in found.files and Path(path).is_file())]


def _records(path: str, on_skip: OnSkip) -> Iterator[PassageLine]:
    try:
        yield from records_in(path, on_skip)
    except OSError as error:
        on_skip(path, f"cannot be read ({error.strerror})")


def _caption(
    found: Scan, picture: SourceFile, captions: Mapping[str, Sequence[Passage]], on_skip: OnSkip
) -> None:
    if not _add_sidecar(found, picture, on_skip) and captions.get(picture.path):
        caption = join_captions(captions[picture.path])
        companion = _digest("\n".join((caption.title, caption.text, caption.url)))
        found.files[picture.path] = replace(picture, caption=caption, companion=companion)


def _add_sidecar(found: Scan, picture: SourceFile, on_skip: OnSkip) -> bool:
    path = find_sidecar(picture.path)
    if path is None:
        return False
    try:
        passages, status = sidecar_passages(path), Path(path).stat()
    except (ConfigError, OSError) as error:
        on_skip(path, getattr(error, "strerror", None) or str(error))
        return False
    if not passages:
        return False
    companion = f"{status.st_size}:{status.st_mtime_ns}"
    found.files[picture.path] = replace(picture, caption=passages[0], companion=companion)
    if path in found.files:
        found.files[path] = replace(found.files[path], caption_passages=1, companion="caption")
    return True


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
