"""Measure the sandbox beside plain jupyter_client and ipykernel, and print a table.

python -m benchmarks.sandbox [--quick] [--json] [--sessions 1,16,64,200] [--only WORD]

Goals are printed, not enforced: they are for 2 idle cores. `--quick` gives rough results. Not covered: what a cell
costs inside its kernel, which is the same for both.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.sandbox import cells, sessions
from benchmarks.sandbox.measure import (
    FULL,
    QUICK,
    TRIVIAL,
    Effort,
    Measure,
    Setting,
    check,
    format_json,
    format_text,
    machine,
    make_sandbox,
)

ROWS: tuple[Callable[[Setting], list[Measure]], ...] = (
    sessions.first_start,
    sessions.start_and_close,
    sessions.tiers,
    sessions.warm_session,
    sessions.rate,
    sessions.killed_host,
    cells.trivial_cell,
    cells.much_text,
    cells.ten_figures,
    cells.host_call,
    cells.traced_cell,
    cells.define,
    cells.crop_and_show,
    cells.flood,
    cells.floods_at_once,
    sessions.idle_memory,
    sessions.curve,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the selected rows one after another and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds and small numbers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sessions", type=_counts, metavar="N,N,…", help="the points of the curve")
    parser.add_argument("--only", default="", metavar="WORD", help="rows with this word in their name")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    chosen = [row for row in ROWS if options.only in row.__name__]
    if not chosen:
        parser.error(
            f"no row contains {options.only!r}; the rows are {', '.join(row.__name__ for row in ROWS)}"
        )
    facts = machine()
    measures = measure(chosen, replace(effort, alive=options.sessions or effort.alive))
    print(format_json(facts, measures) if options.json else format_text(facts, measures))


def measure(rows: Sequence[Callable[[Setting], list[Measure]]], effort: Effort) -> list[Measure]:
    """Run the rows in one warm sandbox; progress goes to standard error."""
    _allow_descriptors()
    measures: list[Measure] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        make_sandbox(spare=0, max_sessions=1024) as sandbox,
    ):
        setting = Setting(sandbox, effort, cells.make_image(Path(folder)))
        with sandbox.open() as session:
            check(session.run(TRIVIAL))
        for row in rows:
            print(f"{row.__name__} …", file=sys.stderr)
            measures += row(setting)
    return measures


def _counts(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(part) for part in text.split(",")}))


def _allow_descriptors() -> None:
    """Raise the limit of descriptors: 200 sessions need more than the default of 1024."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))


if __name__ == "__main__":
    main()
