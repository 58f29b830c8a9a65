"""`pyvision bench compare`: runs over the same samples against the first of them, sample by sample."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyvision.bench.analysis.compare import EqualBudget, Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "folders",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="two experiments or more; the first is the standard",
    )
    parser.add_argument("--metric", metavar="NAME:FLAVOUR", help="whose scores (default: each run's own)")
    parser.add_argument(
        "--equal-tokens", action="store_true", help="let the cheaper run of each pair vote over its repeats"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="who votes once more (default 0)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--html", type=Path, metavar="FILE", help="write one page that opens offline")


def run(options: argparse.Namespace) -> int:
    """Compare and print or write; returns the exit code."""
    from pyvision.bench.analysis.compare import at_equal_tokens, compare_report, illustrate_comparison
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import read_runs
    from pyvision.cli.bench.writing import write_page

    runs = read_runs(options.folders, options.metric)
    voters = runs[1:] if options.equal_tokens else ()
    budgets = [at_equal_tokens(runs[0], run, seed=options.seed) for run in voters]
    if options.html:
        write_page(illustrate_comparison(runs, budgets), options.html)
    elif options.json:
        print(_json(runs, budgets))  # noqa: T201 - the result
    else:
        print(to_markdown(compare_report(runs, budgets)), end="")  # noqa: T201 - the result
    return 0


def _json(runs: Sequence[Run], budgets: Sequence[EqualBudget]) -> str:
    from pyvision.bench.analysis.compare import compare, price

    found = {
        "runs": [{"name": run.name, "records": len(run.results), **asdict(price(run))} for run in runs],
        "against_the_first": [asdict(compare(runs[0], run)) for run in runs[1:]],
        "at_equal_tokens": [asdict(each) for each in budgets],
    }
    return json.dumps(found, ensure_ascii=False)
