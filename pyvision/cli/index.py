"""`pyvision index`: make a collection searchable, search it, say what it holds, forget parts of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyvision.tools.retrieval.building import Counts
    from pyvision.tools.retrieval.search import Hit

_LEFT_OUT = _NOTHING = 3
_ADD = """\
Pictures with the captions beside them (.txt, .md or .json of the same stem, or lines of captions.jsonl and
metadata.jsonl), text, Markdown, JSON lines with title, text, image and url, PDF with the extra `pdf`. What is
unchanged is skipped, what is gone is forgotten, hidden files are passed over. Exit code 3: some files were left out,
each told in a line.
"""
_SEARCH = "The best first, with a score of 0 to 100. Exit code 3: nothing was found."


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parser = commands.add_parser("index")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    adding = _part(parts, "add", "index files and folders, or bring that up to date", _ADD, add)
    adding.add_argument("paths", nargs="+", metavar="PATH", help="a file or a folder")
    adding.add_argument(
        "--embed",
        metavar="hf:NAME",
        help="a CLIP-like network (extra `vision`) by which pictures are found alike, in place of colours and forms",
    )
    searching = _part(parts, "search", "look for texts by words, or for pictures by one", _SEARCH, search)
    what = searching.add_mutually_exclusive_group(required=True)
    what.add_argument("text", nargs="?", metavar="TEXT", help="words to look for")
    what.add_argument("--image", metavar="FILE", help="a picture to find copies and like ones of")
    searching.add_argument("--count", type=_count, default=5, metavar="N", help="how many hits (default 5)")
    searching.add_argument("--json", action="store_true", help="print one JSON object for each hit")
    telling = _part(parts, "info", "say what an index holds", "", info)
    telling.add_argument("--json", action="store_true", help="print one JSON object")
    removing = _part(parts, "remove", "forget a file, or all below a folder", "", remove)
    removing.add_argument("path", metavar="PATH", help="as it was added; it need not exist any more")


def add(options: argparse.Namespace) -> int:
    """Bring the index up to date; returns the exit code."""
    from pyvision.tools.retrieval.building import add as add_files

    path = _index(options)
    is_watched = sys.stderr.isatty()

    def tell(line: str) -> None:
        print(f"left out: {line}", file=sys.stderr)  # noqa: T201 - what goes wrong is told at once

    def step(done: int, whole: int) -> None:
        if is_watched and (done % 100 == 0 or done == whole):
            print(f"\r{done:,} of {whole:,} files", end="\n" if done == whole else "", file=sys.stderr)  # noqa: T201

    counts = add_files(path, options.paths, tell, step, options.embed)
    print(f"{_summary(counts)} · {path}")  # noqa: T201 - what the command is for
    return _LEFT_OUT if counts.skipped else 0


def search(options: argparse.Namespace) -> int:
    """Print the hits; returns the exit code."""
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
    return 0 if hits else _NOTHING


def info(options: argparse.Namespace) -> int:
    """Print what there is; returns the exit code."""
    import json
    from dataclasses import asdict

    from pyvision.tools.retrieval.search import Index

    found = Index(_index(options)).info()
    if options.json:
        print(json.dumps(asdict(found), ensure_ascii=False))  # noqa: T201 - what the command is for
        return 0
    files = ", ".join(f"{count:,} {kind}" for kind, count in found.files.items()) or "none"
    unfinished = f" · {found.unfinished:,} files in part, `index add` goes on" if found.unfinished else ""
    embedded = f" · pictures embedded by {found.describer}" if found.describer else ""
    told = f"{found.passages:,} passages, {found.pictures:,} pictures, {found.bytes:,} bytes"
    print(f"files: {files} · {told}{embedded}{unfinished} · {found.path}")  # noqa: T201 - likewise
    return 0


def remove(options: argparse.Namespace) -> int:
    """Forget what is below a path; returns the exit code."""
    from pyvision.tools.retrieval.building import remove as remove_files

    path = _index(options)
    print(f"{remove_files(path, options.path):,} files forgotten · {path}")  # noqa: T201 - likewise
    return 0


def _part(
    parts: argparse._SubParsersAction[Any],
    name: str,
    purpose: str,
    more: str,
    call: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    told = f"{purpose[0].upper()}{purpose[1:]}. {more}"
    part: argparse.ArgumentParser = parts.add_parser(name, help=purpose, description=told)
    where = "the index (default: PYVISION_INDEX, else .pyvision/index.sqlite)"
    part.add_argument("--index", type=Path, metavar="FILE", help=where)
    part.set_defaults(call=call)
    return part


def _index(options: argparse.Namespace) -> Path:
    import os

    from pyvision.tools.retrieval.database import index_path

    return index_path(options.index, os.environ)


def _summary(counts: Counts) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.by_kind.items()))
    parts = {
        "added": counts.added,
        "changed": counts.changed,
        "unchanged": counts.unchanged,
        "removed": counts.removed,
        "left out": counts.skipped,
        "of other kinds": counts.other_kinds,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count) or "nothing"
    return f"files: {told}{f' ({kinds})' if kinds else ''} · {counts.passages:,} passages written"


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
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 1000")
    return int(text)
