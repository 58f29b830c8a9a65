"""Read snippets of code that were labelled by hand: a line `=== kind, kind`, then the code up to the next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyvision.bench.analysis.taxonomy import classify
from pyvision.bench.analysis.tool_rules import CLASS_OF, Kind


@dataclass(frozen=True, slots=True)
class Snippet:
    """One cell with the kinds of tools that a person sees in it."""

    code: str
    kinds: frozenset[Kind]


def read_snippets(name: str) -> list[Snippet]:
    """The snippets of one of the two files beside this one."""
    blocks = (Path(__file__).parent / name).read_text(encoding="utf-8").split("=== ")[1:]
    return [_snippet(*block.split("\n", 1)) for block in blocks]


def agreement(snippets: list[Snippet]) -> float:
    """The share of snippets for which exactly the labelled kinds are found."""
    return sum(frozenset(classify(one.code).kinds) == one.kinds for one in snippets) / len(snippets)


def class_agreement(snippets: list[Snippet]) -> float:
    """The same for the classes of those kinds."""
    right = (set(classify(one.code).classes) == {CLASS_OF[kind] for kind in one.kinds} for one in snippets)
    return sum(right) / len(snippets)


def _snippet(labels: str, code: str) -> Snippet:
    known = {str(kind): kind for kind in CLASS_OF}
    return Snippet(code, frozenset(known[label.strip()] for label in labels.split(",")))
