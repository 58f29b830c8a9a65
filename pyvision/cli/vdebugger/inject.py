"""`pyvision vdebugger inject`: put errors into right programs, by a model that fills masks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.cli.vdebugger.output import tell, write
from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.experiments.vdebugger_training.dataset import Infill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of `generate`")
    add("--decoding", choices=("greedy", "mask_best"), default="greedy", help="mask_best needs --local")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="NAME", help="an endpoint that fills the masks")
    which.add_argument("--local", metavar="NAME", help="a model of transformers that does: a folder or name")
    add("--attempts", type=int, default=1, metavar="N", help="masks in each program (default 1)")
    add("--at-once", type=int, default=16, metavar="N", help="masks filled together (default 16)")
    add("--threshold", type=float, default=0.9, metavar="X", help="of mask-best (default 0.9)")
    add("--times", type=int, default=3, metavar="N", help="of mask-best, per program (default 3)")
    add("--tokens", type=int, default=16384, metavar="N", help="that a local model reads (default 16384)")
    add("--seed", type=int, default=0, metavar="N", help="of masks and sampling (default 0)")


def run(options: argparse.Namespace) -> int:
    """Break programs; returns the exit code."""
    from pyvision.experiments.vdebugger_training import dataset
    from pyvision.experiments.vdebugger_training.dataset import attempts, read_collection

    collection, refill = read_collection(options.folder), _refill(options)
    how = dataset.InjectionConfig(options.decoding, options.attempts, options.at_once, options.seed)
    samples = {sample.id: sample for sample in collection.samples()}
    with attempts(collection) as attempt:
        counts = dataset.inject(samples, refill, dataset.Pipeline(attempt, options.folder, tell), how)
    return write(f"{options.folder / how.file}: {dataset.format_counts(counts)}")


def _refill(options: argparse.Namespace) -> Infill:
    """Who fills the masks. Raises ConfigError."""
    from pyvision.experiments.vdebugger_training.mask_best import MaskBest
    from pyvision.experiments.vdebugger_training.masking import PromptedInfill, api_and_examples

    if options.local is None:
        if options.decoding != "greedy":
            raise ConfigError("mask-best needs the probabilities of every token; give a model by --local")
        from pyvision.models.factory import resolve_model

        return PromptedInfill(resolve_model(options.model).model, api_and_examples())
    from pyvision.experiments.vdebugger_training.local_model import Local, LocalInfill
    from pyvision.experiments.vdebugger_training.masking import INFILL_TOKENS
    from pyvision.experiments.vdebugger_training.packing import TokenBudget

    rule = MaskBest(options.threshold, options.times) if options.decoding == "mask_best" else None
    token_budget = TokenBudget(options.tokens, INFILL_TOKENS, "start")
    model = Local(options.local, at_once=options.at_once)
    return LocalInfill(model, api_and_examples(), rule, token_budget, options.seed)
