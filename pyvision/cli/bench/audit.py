"""`pyvision bench audit`: what the tools did, from the same samples answered in several ablations."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pyvision.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "ablations",
        nargs="+",
        metavar="ARM=DIR",
        help="experiments over the same samples: direct=DIR tools=DIR, and not_run, blank, swapped, oracle",
    )
    parser.add_argument("--metric", metavar="NAME:FLAVOUR", help="whose scores (default: each run's own)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--html", type=Path, metavar="FILE", help="write one page that opens offline")


def run(options: argparse.Namespace) -> int:
    """Audit and print or write; returns the exit code."""
    from pyvision.bench.analysis.audit import audit_report, audit_table
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import check_comparable, read_results
    from pyvision.cli.bench.writing import write_page

    folders = _folders(options.ablations)
    check_comparable(tuple(folders.values()), options.metric)
    audit = audit_table({name: read_results(folder, options.metric) for name, folder in folders.items()})
    document = audit_report(audit, f"Audit of {folders['tools'].name}")
    if options.html:
        write_page(document, options.html)
    elif options.json:
        print(json.dumps(asdict(audit), ensure_ascii=False))  # noqa: T201 - the result
    else:
        print(to_markdown(document), end="")  # noqa: T201 - the result
    return 0


def _folders(ablations: Sequence[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name, folder in map(_name, ablations):
        if name in found:
            raise ConfigError(
                f"the ablation {name!r} is given twice: {found[name]} and {folder}; leave one out"
            )
        found[name] = folder
    return found


def _name(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not equals or not folder:
        raise ConfigError(f"{text!r} is not ARM=DIR, as in tools=runs/bench/mine")
    return name, Path(folder)
