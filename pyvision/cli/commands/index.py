"""`pyvision index`: make a collection searchable, search it, describe it, remove parts of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import add_commands, add_part
from pyvision.config.environment import environment

if TYPE_CHECKING:
    from pyvision.tools.retrieval.building import IndexProgress
    from pyvision.tools.retrieval.search import Hit

_SKIPPED = _NOTHING = 3
_ADD = """\
Supported files: images, with captions in a .txt, .md or .json file of the same name or in captions.jsonl or
metadata.jsonl; text; Markdown; JSON lines with title, text, image and url; and PDF with the extra `pdf`. Unchanged
files are skipped, deleted files are removed from the index, hidden files are ignored. The exit code is 3 if some files
could not be indexed; each of them is reported.
"""
_SEARCH = "The best results come first, with scores from 0 to 100. The exit code is 3 if there are none."


def add_index(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parts = add_commands(commands, "index")
    parser = _add_part(parts, "add", "index files and folders, or update the index", add, _ADD)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file or a folder")
    parser.add_argument(
        "--embed",
        metavar="hf:NAME",
        help="compare images by a CLIP-like network (extra `vision`) instead of by colours and shapes",
    )
    parser = _add_part(parts, "search", "search texts by words, or images by an example", search, _SEARCH)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("text", nargs="?", metavar="TEXT", help="words to search for")
    what.add_argument("--image", metavar="FILE", help="find copies of this image, and similar ones")
    parser.add_argument("--count", type=_count, default=5, metavar="N", help="number of results (default 5)")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each result")
    parser = _add_part(parts, "info", "show what an index contains", info)
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser = _add_part(parts, "remove", "remove a file, or everything below a folder", remove)
    parser.add_argument("path", metavar="PATH", help="the path as it was added; it need not exist any more")


def add(options: argparse.Namespace) -> int:
    """Bring the index up to date; returns the exit code."""
    from pyvision.tools.retrieval.building import add as add_files

    path = _index(options)
    is_watched = sys.stderr.isatty()

    def report(line: str) -> None:
        print(f"skipped: {line}", file=sys.stderr)  # noqa: T201 - problems are reported at once

    def step(done: int, whole: int) -> None:
        if is_watched and (done % 100 == 0 or done == whole):
            print(f"\r{done:,} of {whole:,} files", end="\n" if done == whole else "", file=sys.stderr)  # noqa: T201

    counts = add_files(path, options.paths, report, step, options.embed)
    print(f"{_summary(counts)} · {path}")  # noqa: T201 - the result
    return _SKIPPED if counts.skipped else 0


def search(options: argparse.Namespace) -> int:
    """Print the results; returns the exit code."""
    import json

    from pyvision.images.read import read
    from pyvision.tools.retrieval.search import Index

    index = Index(_index(options))
    if options.image is not None:
        hits = index.similar(read(options.image), options.count)
    else:
        hits = index.documents(options.text, options.count)
    for hit in hits:
        print(json.dumps(_plain(hit), ensure_ascii=False) if options.json else _format(hit))  # noqa: T201
    if not hits:
        print(f"nothing found in {index.path}", file=sys.stderr)  # noqa: T201 - not a result
        return _NOTHING
    return 0


def info(options: argparse.Namespace) -> int:
    """Print what the index contains; returns the exit code."""
    import json
    from dataclasses import asdict

    from pyvision.tools.retrieval.search import Index

    found = Index(_index(options)).info()
    if options.json:
        print(json.dumps(asdict(found), ensure_ascii=False))  # noqa: T201 - the result
        return 0
    files = ", ".join(f"{count:,} {kind}" for kind, count in found.files.items()) or "none"
    unfinished = (
        f" · {found.unfinished:,} files partly indexed, run `index add` to finish" if found.unfinished else ""
    )
    embedded = f" · images embedded by {found.embedder}" if found.embedder else ""
    contents = f"{found.passages:,} passages, {found.pictures:,} images, {found.bytes:,} bytes"
    print(f"files: {files} · {contents}{embedded}{unfinished} · {found.path}")  # noqa: T201 - the result
    return 0


def remove(options: argparse.Namespace) -> int:
    """Remove everything below a path; returns the exit code."""
    from pyvision.tools.retrieval.building import remove as remove_files

    path = _index(options)
    removed = remove_files(path, options.path)
    print(f"{removed:,} {'file' if removed == 1 else 'files'} removed · {path}")  # noqa: T201 - the result
    return 0


def _add_part(
    parts: argparse._SubParsersAction[Any],
    name: str,
    purpose: str,
    call: Callable[[argparse.Namespace], int],
    more: str = "",
) -> argparse.ArgumentParser:
    part = add_part(parts, name, purpose, call, more)
    default = "the index (default: $PYVISION_INDEX or .pyvision/index.sqlite)"
    part.add_argument("--index", type=Path, metavar="FILE", help=default)
    return part


def _index(options: argparse.Namespace) -> Path:

    from pyvision.tools.retrieval.database import index_path

    return index_path(options.index, environment())


def _summary(counts: IndexProgress) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.by_kind.items()))
    parts = {
        "added": counts.added,
        "changed": counts.changed,
        "unchanged": counts.unchanged,
        "removed": counts.removed,
        "skipped": counts.skipped,
        "of other types": counts.other_kinds,
    }
    changes = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count) or "no changes"
    return f"files: {changes}{f' ({kinds})' if kinds else ''} · {counts.passages:,} passages written"


def _format(hit: Hit) -> str:
    mark = " · a copy" if hit.is_same else ""
    text = " ".join(hit.text.split())
    short = text if len(text) <= 200 else f"{text[:199]}…"
    return f"{100 * hit.score:5.1f}  {hit.title}{mark}\n       {hit.url or hit.path}\n       {short}".rstrip()


def _plain(hit: Hit) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(hit)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 1 to 1000")
    return int(text)
