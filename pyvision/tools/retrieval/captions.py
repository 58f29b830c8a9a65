"""Find what is said of each picture: in a file of the same stem beside it, or in records that name it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from pyvision.errors import ConfigError
from pyvision.tools.retrieval.entries import Complain, Found, Passage
from pyvision.tools.retrieval.records import Record, join_captions, records_in, sidecar_of, sidecar_passages
from pyvision.tools.retrieval.scan import Scan, kind_of, stat_file

CAPTION_FILES = ("captions.jsonl", "metadata.jsonl")  # looked for beside a picture that is added by itself


@dataclass(frozen=True, slots=True)
class _Named:
    """What records say. captions: of each image; missing: the images that a file of records names in vain."""

    captions: defaultdict[str, list[Passage]] = field(default_factory=lambda: defaultdict(list))
    missing: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def give_captions(found: Scan, roots: Sequence[str], complain: Complain) -> None:
    """Put the captions into a scan; images that only records name are taken into it too.

    A file of the same stem comes before records. Such a text is no document, but for what goes on after its first
    passage. A record whose image is not there is a passage of its own.
    """
    named = _Named()
    for path in _files_of_records(found, roots):
        for record in _records(path, complain):
            _take_record(found, named, path, record, complain)
    for path, images in named.missing.items():
        digest = _digest("\n".join(sorted(images)))
        found.found[path] = replace(found.found[path], without=frozenset(images), companion=digest)
    for picture in [one for one in found.found.values() if one.kind == "picture"]:
        _caption(found, picture, named.captions, complain)


def _take_record(found: Scan, named: _Named, path: str, record: Record, complain: Complain) -> None:
    image = record.image
    if not image or image in named.missing.get(path, ()):
        return
    try:
        if image not in found.found and path in found.found:
            _check_picture(image)
            found.found[image] = stat_file(image)
        named.captions[image].append(record.passage)
    except OSError as error:
        named.missing[path].add(image)
        complain(image, f"is named in {Path(path).name!r} and cannot be used ({error.strerror})")


def _check_picture(path: str) -> None:
    if kind_of(path) != "picture":
        raise OSError(0, "the name is not that of a picture")


def _files_of_records(found: Scan, roots: Sequence[str]) -> list[str]:
    own = [path for path, file in found.found.items() if file.kind == "records"]
    pictures = (root for root in roots if kind_of(root) == "picture")
    beside = {str(Path(root).parent / name) for root in pictures for name in CAPTION_FILES}
    return [*own, *(path for path in sorted(beside) if path not in found.found and Path(path).is_file())]


def _records(path: str, complain: Complain) -> Iterator[Record]:
    try:
        yield from records_in(path, complain)
    except OSError as error:
        complain(path, f"cannot be read ({error.strerror})")


def _caption(
    found: Scan, picture: Found, captions: Mapping[str, Sequence[Passage]], complain: Complain
) -> None:
    if not _give_sidecar(found, picture, complain) and captions.get(picture.path):
        caption = join_captions(captions[picture.path])
        companion = _digest("\n".join((caption.title, caption.text, caption.url)))
        found.found[picture.path] = replace(picture, caption=caption, companion=companion)


def _give_sidecar(found: Scan, picture: Found, complain: Complain) -> bool:
    path = sidecar_of(picture.path)
    if path is None:
        return False
    try:
        passages, status = sidecar_passages(path), Path(path).stat()
    except (ConfigError, OSError) as error:
        complain(path, getattr(error, "strerror", None) or str(error))
        return False
    if not passages:
        return False
    companion = f"{status.st_size}:{status.st_mtime_ns}"
    found.found[picture.path] = replace(picture, caption=passages[0], companion=companion)
    if path in found.found:
        found.found[path] = replace(found.found[path], taken=1, companion="caption")
    return True


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
