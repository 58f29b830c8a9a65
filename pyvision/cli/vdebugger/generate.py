"""`pyvision vdebugger generate`: write and run a program for each sample of a dataset."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.cli.settings import add_repeated, parse_pairs
from pyvision.cli.vdebugger.output import tell, write

if TYPE_CHECKING:
    from pyvision.experiments.vdebugger_training.dataset import Collection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a name of `bench list`, a file or folder, or synthetic/NAME")
    add("--out", type=Path, required=True, metavar="DIR", help="where the programs go; it is gone on with")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", metavar="NAME", help="who writes programs and sees for them")
    which.add_argument("--config", metavar="FILE", help="a model configuration file (JSON)")
    for flag in ("--role", "--tool", "--set"):
        add_repeated(parser, flag)
    add("--metric", metavar="NAME[:FLAVOUR]", help="how answers are scored (default: the dataset's own way)")
    add("--limit", type=int, metavar="N", help="only the first samples")
    add("--count", type=int, default=100, metavar="N", help="samples of a synthetic set (default 100)")
    add("--seed", type=int, default=0, metavar="N", help="of a synthetic set (default 0)")
    add("--difficulty", type=float, default=0.5, metavar="X", help="of a synthetic set (default 0.5)")
    add("--cell-timeout", type=float, default=30.0, metavar="S", help="time for a program (default 30)")


def run(options: argparse.Namespace) -> int:
    """Collect programs; returns the exit code."""
    from pyvision.experiments.vdebugger_training import dataset
    from pyvision.experiments.vdebugger_training.dataset import attempts, keep

    collection = _collection(options)
    keep(collection, options.out)
    with attempts(collection) as attempt:
        counts = dataset.generate(collection.samples(), dataset.Pipeline(attempt, options.out, tell))
    return write(f"{options.out}: {dataset.format_counts(counts)}")


def _collection(options: argparse.Namespace) -> Collection:
    from dataclasses import fields

    from pyvision.experiments.vdebugger_training.dataset import Collection

    settings = vars(options) | {
        "roles": parse_pairs(options, "--role"),
        "tools": parse_pairs(options, "--tool"),
        "options": parse_pairs(options, "--set"),
    }
    return Collection(**{each.name: settings[each.name] for each in fields(Collection)})
