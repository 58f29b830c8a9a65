"""`pyvision vdebugger train`: train a language model on lessons."""

from __future__ import annotations

import argparse
from pathlib import Path

from pyvision.cli.flags import pairs
from pyvision.cli.vdebugger.output import tell, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("lessons", type=Path, metavar="FILE", help="a file of `pack`, such as critic/train-mix.jsonl")
    add(
        "--model",
        required=True,
        metavar="NAME",
        help="the model to start from: a folder, or a name of the hub",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="where the trained model goes; it is gone on with",
    )
    add("--recipe", type=Path, metavar="FILE", help="hyper-parameters (JSON; default: those of the paper)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="one of them, as in lora_rank=16")


def run(options: argparse.Namespace) -> int:
    """Train a model; returns the exit code."""
    from pyvision.config.model_config import with_options
    from pyvision.experiments.vdebugger_training import recipe
    from pyvision.experiments.vdebugger_training.fine_tuning import train as train_model
    from pyvision.experiments.vdebugger_training.records import Example, read

    chosen = with_options(
        recipe.read_recipe(options.recipe or recipe.PAPER), pairs("--set", options.set, "lora_rank=16")
    )
    lessons = tuple(read(options.lessons, Example))
    train_model(lessons, options.model, options.out, chosen, lambda progress: tell(str(progress)))
    return write(str(options.out))
