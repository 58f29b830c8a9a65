"""Inject errors, train a critic and a refiner from scratch, and measure them where every answer is known.

python -m benchmarks.worlds.vdebugger_world [--quick] [--out DIR] [--blindness X] [--seed N]

The scenes, questions and right programs come from a grammar; everything after that is the product's own pipeline
(`pyvision.experiments.vdebugger_training`) with language models of under a million weights, trained here from
scratch. A coder, taught so little that it errs, writes first programs; a filler refills masks; one model is critic
and refiner at once, once with feedback and once without. What the tables show holds for models and programs of this
size; whether VDebugger's directions hold here is said below them, either way. Intervals are Wilson's, 95 %; attempts
at one program are counted as if they were independent. Needs the extra `train`; the full course took 19 minutes on
one core.
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
    parser.add_argument("--quick", action="store_true", help="a few minutes; too little to learn much")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keep programs, lessons and models here, or go on"
    )
    parser.add_argument(
        "--blindness", type=float, default=0.0, metavar="X", help="share of things never found"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is drawn (default 0)")
    options = parser.parse_args(arguments)
    size = replace(QUICK if options.quick else FULL, blindness=options.blindness, seed=options.seed)
    require("torch", "transformers")
    _compute_on_one_core()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        print(run(size, options.out or Path(folder), lambda line: print(line, flush=True)))
    print(f"\n{time.monotonic() - began:.0f} s in all")


def _compute_on_one_core() -> None:
    """Tensors this small gain nothing from a second thread, and lose much beside anything else that computes."""
    import torch

    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
