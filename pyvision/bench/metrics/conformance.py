"""The conformance table: which flavours were compared with the published scorer they stand for, and with what result.

`conformance.json` holds counts and hashes. It is written by `make conformance`, and by nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyvision.bench.metrics.registry import METRICS, flavours_of

TABLE = Path(__file__).with_name("conformance.json")
NOT_COMPARED = "not compared"
_COLUMNS = ("flavour", "source", "compared", "equal", "differences explained")


@dataclass(frozen=True, slots=True)
class Conformance:
    """One comparison. equal: replies with the same value; explained: rule -> replies that differ by it.

    repository: OWNER/NAME@COMMIT. sha256: over all replies and both values.
    """

    flavours: tuple[str, ...]
    repository: str
    script: str
    licence: str
    compared: str
    replies: int
    equal: int
    explained: Mapping[str, int]
    unexplained: int
    sha256: str

    @property
    def share(self) -> float:
        """The share of replies that are equal or explained; 0 where none was compared."""
        return 1 - self.unexplained / self.replies if self.replies else 0.0

    @property
    def line(self) -> str:
        """The comparison in a line."""
        rules = ", ".join(f"{count} {rule}" for rule, count in self.explained.items()) or "none"
        return (
            f"{', '.join(self.flavours)}: {self.equal:,} of {self.replies:,} equal ({format_share(self)}); "
            f"explained: {rules}; unexplained: {self.unexplained}"
        )


def load() -> Mapping[str, Conformance]:
    """NAME:FLAVOUR -> its comparison, of those that were compared."""
    rows = [_read(row) for row in json.loads(TABLE.read_text(encoding="utf-8"))]
    return {flavour: row for row in rows for flavour in row.flavours}


def to_json(found: Iterable[Conformance], *, keep: bool = False) -> str:
    """The content of the file. keep: with the comparisons that it has already of other flavours."""
    rows = {row.flavours: row for row in (load().values() if keep else ())}
    rows |= {row.flavours: row for row in found}
    return json.dumps([asdict(row) for row in rows.values()], indent=2) + "\n"


def describe(metric: str | None = None) -> list[dict[str, str]]:
    """One row for each flavour of the metric, or of all, as texts. Raises ConfigError for an unknown one."""
    compared = load()
    return [
        _describe(f"{name}:{flavour}", compared.get(f"{name}:{flavour}"))
        for name in ([metric] if metric else METRICS)
        for flavour in flavours_of(name)
    ]


def to_text(rows: Sequence[Mapping[str, str]]) -> str:
    """The rows as a table of 80 columns, then the sources: what was compared with which flavours."""
    columns = ("flavour", "equal", "differences explained")
    sources: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["source"]:
            sources.setdefault((row["source"], row["compared"]), []).append(row["flavour"])
    lines = [
        f"{source}, {compared}:\n  {', '.join(flavours)}" for (source, compared), flavours in sources.items()
    ]
    return "\n".join([_align([{name: row[name] for name in columns} for row in rows]), "", *lines]).rstrip()


def _align(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [list(rows[0]), *([*row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def format_share(row: Conformance) -> str:
    """The share of equal values, cut and not rounded, so that 100 % means all."""
    return f"{int(10_000 * row.equal / row.replies) / 100:.2f} %" if row.replies else NOT_COMPARED


def _describe(flavour: str, row: Conformance | None) -> dict[str, str]:
    if row is None:
        return dict(zip(_COLUMNS, (flavour, "", "", NOT_COMPARED, ""), strict=True))
    rules = [f"{count:,} {rule}" for rule, count in row.explained.items()]
    unexplained = [f"{row.unexplained:,} unexplained"] if row.unexplained else []
    source, compared = (
        f"{row.repository.partition('@')[0]} ({row.licence})",
        f"{row.replies:,} {row.compared}",
    )
    differences = ", ".join(rules + unexplained) or "none"
    return dict(zip(_COLUMNS, (flavour, source, compared, format_share(row), differences), strict=True))


def _read(row: Mapping[str, Any]) -> Conformance:
    return Conformance(**{**row, "flavours": tuple(row["flavours"])})
