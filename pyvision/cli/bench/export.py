"""`pyvision bench export`: write records, answers and scores for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    parser.add_argument("--to", required=True, metavar="FORMAT", help="csv, jsonl, vlmevalkit or parquet")
    parser.add_argument("--metric", metavar="NAME:FLAVOUR", help="whose scores (default: the run's)")
    parser.add_argument("--file", type=Path, metavar="FILE", help="where to (default: DIR/results.…)")


def run(options: argparse.Namespace) -> int:
    """Write the file and print its name; returns the exit code."""
    from pyvision.bench.exports import export

    print(export(options.folder, options.to, options.file, options.metric))  # noqa: T201 - where it went
    return 0
