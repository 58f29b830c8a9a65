"""Inject errors, train a critic and a refiner from scratch, and measure them in a world with known answers.

python -m benchmarks.worlds.vdebugger_world [--quick] [--out DIR] [--blindness X] [--seed N]

The scenes, questions and correct programs come from a grammar; everything else is PyVision's own pipeline
(`pyvision.experiments.vdebugger_training`) with language models of under a million weights, trained from scratch. A
coder with little training, so that it makes errors, writes the first programs; a filler fills masks; one model is both
critic and refiner, once with feedback and once without. The results hold for models and programs of this size; the
lines below the tables say which results of the paper are reproduced. Intervals are Wilson's, 95 %; attempts at one
program count as independent. Needs the extra `train`; a full run took 19 minutes on one core.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.worlds.vdebugger_world.experiment import FULL, QUICK, run
from pyvision.experiments.vdebugger_training.fine_tuning import require


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
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
    options = parser.parse_args(arguments)
    size = replace(QUICK if options.quick else FULL, blindness=options.blindness, seed=options.seed)
    require("torch", "transformers")
    _compute_on_one_core()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        print(run(size, options.out or Path(folder), lambda line: print(line, flush=True)))
    print(f"\n{time.monotonic() - began:.0f} s in all")


def _compute_on_one_core() -> None:
    """Such small tensors gain nothing from a second thread."""
    import torch

    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
