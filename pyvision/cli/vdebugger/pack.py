"""`pyvision vdebugger pack`: make lessons for a critic and a refiner."""

from __future__ import annotations

import argparse
from pathlib import Path

from pyvision.cli.vdebugger.output import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of `generate` and `inject`")
    add("--out", type=Path, metavar="DIR", help="where the lessons go (default: DIR/lessons)")
    add("--without-feedback", action="store_true", help="show no results and traces")
    add(
        "--mix", type=float, default=1.0, metavar="X", help="unlocalised wrong programs, per pair (default 1)"
    )
    add("--held-out", type=float, default=0.05, metavar="X", help="of samples for val and for test (0.05)")
    add("--seed", type=int, default=0, metavar="N", help="of the order and the parts (default 0)")


def run(options: argparse.Namespace) -> int:
    """Make lessons; returns the exit code."""
    from pyvision.experiments.vdebugger_training import packing
    from pyvision.experiments.vdebugger_training.dataset import PROGRAMS
    from pyvision.experiments.vdebugger_training.records import Injected, Program, read, rewrite

    how = packing.Packing(not options.without_feedback, options.mix, options.held_out, options.seed)
    files = sorted(options.folder.glob("injected-*.jsonl"))
    broken = [each for file in files for each in read(file, Injected)]
    packed = packing.pack(tuple(read(options.folder / PROGRAMS, Program)), broken, how)
    out = options.out or options.folder / "lessons"
    for stem, lessons in packed.items():
        path = out / f"{stem}.jsonl"
        write(f"{path}: {rewrite(path, lessons)} lessons")
    return 0
