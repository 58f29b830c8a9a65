"""How many published debate graphs are read: `python -m benchmarks.published_graphs FILE …`

FILE: a JSON object from a key to a text, or to an object with one text, such as `data/kg_init/*.json` of the repository
of BDoG (github.com/thecharm/BDoG), which has no licence and is therefore not part of this one. A text counts as
JSON-like if it has a brace with a quoted key; prose has none. Printed for each file, and for all: how many are
JSON-like, how many of those give a graph, and the share of graphs that need each repair.
--show REPAIR prints five texts with that repair (`empty`: without a graph) instead.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pyvision.strategies.bdog.graphs import read_graph

_JSON_LIKE = re.compile(r"\{\s*[\"'“]?\w[\w \-]{0,40}[\"'”]?\s*:|\{\s*[\"'“]|\[\s*\{")
_LOSSES = ("nameless_item", "unreadable_edge", "dropped_endpoint")


@dataclass(slots=True)
class Tally:
    """What came of the texts of one file."""

    texts: int = 0
    json_like: int = 0
    found: int = 0
    repairs: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Read one text and count it."""
        self.texts += 1
        graph, repairs = read_graph(text)
        if not _JSON_LIKE.search(text):
            return
        self.json_like += 1
        self.found += bool(graph)
        self.repairs.update(repairs)

    def line(self, name: str) -> str:
        """One row of the table."""
        share = 100 * self.found / max(1, self.json_like)
        losses = "".join(f"{100 * self.repairs[each] / max(1, self.json_like):>18.2f} %" for each in _LOSSES)
        return f"{name:<32}{self.texts:>8}{self.json_like:>11}{self.found:>9}{share:>9.2f} %{losses}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the files and print the table, or examples of one repair."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published_graphs")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", metavar="REPAIR")
    options = parser.parse_args(arguments)
    if options.show:
        shown = (text for file in options.files for text in texts_of(file) if _has(text, options.show))
        for text in islice(shown, 5):
            print(text, "\n" + "-" * 80)
        return 0
    print(
        f"{'file':<32}{'texts':>8}{'JSON-like':>11}{'graphs':>9}{'share':>11}"
        + "".join(f"{e:>20}" for e in _LOSSES)
    )
    whole = Tally()
    for file in options.files:
        tally = Tally()
        for text in texts_of(file):
            tally.add(text)
            whole.add(text)
        print(tally.line(file.stem))
    print(whole.line("all"))
    return 0


def texts_of(file: Path) -> Iterator[str]:
    """The texts of a file of graphs."""
    for value in json.loads(file.read_text("utf-8")).values():
        yield value if isinstance(value, str) else str(next(iter(value.values()), ""))


def _has(text: str, repair: str) -> bool:
    graph, repairs = read_graph(text)
    return repair in repairs or (repair == "empty" and not graph and bool(_JSON_LIKE.search(text)))


if __name__ == "__main__":
    raise SystemExit(main())
