"""Inject errors, train a critic and a refiner from scratch, and measure them in a world with known answers.

python -m benchmarks.worlds.vdebugger_world [--quick] [--out DIR] [--blindness X] [--seed N]
python -m benchmarks.worlds.vdebugger_world --claims [--out DIR] [--detect POINTS] [--pilot N] [--most N] [--workers N]

The scenes, questions and correct programs come from a grammar; everything else is PyVision's own pipeline
(`pyvision.experiments.vdebugger_training`) with language models of under a million weights, trained from scratch. A
coder with little training, so that it makes errors, writes the first programs; a filler fills masks; one model is both
critic and refiner, once with feedback and once without. The results hold for models and programs of this size. One
experiment prints tables (intervals are Wilson's, 95 %; attempts at one program count as independent). `--claims` runs
smaller experiments with different seeds and decides which results of the paper they confirm or refute. Needs the extra
`train`; one full experiment took 19 minutes on one core.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.worlds.claims import Aim
from benchmarks.worlds.vdebugger_world.claims import Study, study, trainer
from benchmarks.worlds.vdebugger_world.experiment import FULL, QUICK, compute_on_one_core, report, run
from pyvision.experiments.vdebugger_training.fine_tuning import require


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = _parser().parse_args(arguments)
    require("torch", "transformers")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        print(_results(options, options.out or Path(folder)))
    print(f"\n{time.monotonic() - began:.0f} s in all")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.vdebugger_world", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes, too short to learn much")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keep programs, examples and models here, and resume"
    )
    parser.add_argument(
        "--blindness", type=float, default=0.0, metavar="X", help="share of shapes that are never found"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all random choices (default 0)")
    parser.add_argument("--claims", action="store_true", help="decide the paper's claims over many trainings")
    parser.add_argument("--pilot", type=int, default=3, help="trainings of the pilot of --claims (default 3)")
    parser.add_argument(
        "--most", type=int, default=30, help="trainings of --claims after the pilot, at most (default 30)"
    )
    parser.add_argument(
        "--detect",
        type=float,
        default=10.0,
        help="the difference that --claims has to find, points (default 10)",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes of --claims (default 1)")
    return parser


def _results(options: argparse.Namespace, folder: Path) -> str:
    if options.claims:
        aim = Aim(options.detect / 100)
        with trainer(folder, options.workers) as trained:
            return study(Study(aim, options.pilot, options.most), trained, _tell)
    compute_on_one_core()
    size = replace(QUICK if options.quick else FULL, blindness=options.blindness, seed=options.seed)
    return report(run(size, folder, _tell))


def _tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
