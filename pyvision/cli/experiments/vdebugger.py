"""`pyvision vdebugger`: train and evaluate the critic and the refiner of visual programs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import (
    Deprecated,
    above_zero,
    add_commands,
    add_generated_set,
    add_part,
    add_repeated,
    count,
    pairs,
    parse_pairs,
)
from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.experiments.vdebugger_training.dataset import Collection, Infill


def add_vdebugger(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parts = add_commands(commands, "vdebugger")
    _add_generate(parts)
    _add_inject(parts)
    _add_pack(parts)
    _add_train(parts)
    _add_evaluate(parts)


def generate(options: argparse.Namespace) -> int:
    """Collect programs; returns the exit code."""
    from pyvision.experiments.vdebugger_training import dataset
    from pyvision.experiments.vdebugger_training.dataset import attempts, keep

    collection = _read_options(options)
    keep(collection, options.out)
    with attempts(collection) as attempt:
        counts = dataset.generate(
            collection.samples(), dataset.Pipeline(attempt, options.out, _print_progress)
        )
    return _print_result(f"{options.out}: {dataset.format_counts(counts)}")


def inject(options: argparse.Namespace) -> int:
    """Inject errors; returns the exit code."""
    from pyvision.experiments.vdebugger_training import dataset
    from pyvision.experiments.vdebugger_training.dataset import attempts, read_collection

    collection, infill = read_collection(options.folder), _make_infill(options)
    how = dataset.InjectionConfig(options.decoding, options.attempts, options.at_once, options.seed)
    samples = {sample.id: sample for sample in collection.samples()}
    with attempts(collection) as attempt:
        counts = dataset.inject(
            samples, infill, dataset.Pipeline(attempt, options.folder, _print_progress), how
        )
    return _print_result(f"{options.folder / how.file}: {dataset.format_counts(counts)}")


def pack(options: argparse.Namespace) -> int:
    """Write training examples; returns the exit code."""
    from pyvision.experiments.vdebugger_training import packing
    from pyvision.experiments.vdebugger_training.dataset import PROGRAMS
    from pyvision.experiments.vdebugger_training.records import Injected, ScoredProgram, read, rewrite

    how = packing.Packing(not options.without_feedback, options.mix, options.held_out, options.seed)
    files = sorted(options.folder.glob("injected-*.jsonl"))
    broken = [each for file in files for each in read(file, Injected)]
    packed = packing.pack(tuple(read(options.folder / PROGRAMS, ScoredProgram)), broken, how)
    out = options.out or options.folder / "lessons"
    for stem, examples in packed.items():
        path = out / f"{stem}.jsonl"
        _print_result(f"{path}: {rewrite(path, examples)} examples")
    return 0


def train(options: argparse.Namespace) -> int:
    """Train a model; returns the exit code."""
    from pyvision.agent.strategy import with_options
    from pyvision.experiments.vdebugger_training import recipe
    from pyvision.experiments.vdebugger_training.fine_tuning import train as train_model
    from pyvision.experiments.vdebugger_training.records import TrainingExample, read

    chosen = with_options(
        recipe.read_recipe(options.recipe or recipe.PAPER), pairs("--set", options.set, "lora_rank=16")
    )
    examples = tuple(read(options.examples, TrainingExample))
    train_model(examples, options.model, options.out, chosen, lambda progress: _print_progress(str(progress)))
    return _print_result(str(options.out))


def evaluate(options: argparse.Namespace) -> int:
    """Measure, and print the table; returns the exit code."""
    import json
    from dataclasses import asdict

    if options.examples is not None:
        if options.model is None or options.runs:
            raise ConfigError("evaluate --examples needs --model and no run folders")
        measures: Any = {options.model: _measure_examples(options)}
    elif options.runs:
        measures = _measure_runs(options.runs)
    else:
        raise ConfigError("nothing to evaluate; give run folders, or --examples FILE --model NAME")
    if options.json:
        return _print_result(json.dumps({name: asdict(each) for name, each in measures.items()}))
    return _print_result(f"percent [95% confidence interval] of samples\n{_format_table(measures)}")


def _add_generate(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "generate", "write and run a program for each sample of a dataset", generate)
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a name from `bench list`, a file or folder, or synthetic/NAME")
    add(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder for the programs; an unfinished one is resumed",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--model", metavar="NAME", help="the model that writes programs and answers their queries"
    )
    which.add_argument("--config", metavar="FILE", help="a model configuration (JSON)")
    for flag in ("--role", "--tool", "--set"):
        add_repeated(parser, flag)
    add(
        "--metric", metavar="NAME[:FLAVOUR]", help="how to grade answers (default: the metric of the dataset)"
    )
    add("--limit", type=count, metavar="N", help="only the first N samples")
    add_generated_set(parser)
    add(
        "--cell-timeout",
        type=above_zero,
        default=30.0,
        metavar="S",
        help="seconds for each program (default 30)",
    )


def _add_inject(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "inject", "inject errors into the correct programs", inject)
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of `generate`")
    add(
        "--decoding",
        choices=("greedy", "mask_best"),
        default="greedy",
        help="how to fill masks; mask_best needs --local (default greedy)",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="NAME", help="the model that fills the masks, at an endpoint")
    which.add_argument(
        "--local", metavar="NAME", help="the model that fills the masks, in transformers: a folder or a name"
    )
    add("--attempts", type=count, default=1, metavar="N", help="masks per program (default 1)")
    add("--at-once", type=count, default=16, metavar="N", help="masks filled in one batch (default 16)")
    add("--threshold", type=float, default=0.9, metavar="X", help="threshold of mask_best (default 0.9)")
    add(
        "--times", type=count, default=3, metavar="N", help="repetitions of mask_best per program (default 3)"
    )
    add(
        "--tokens", type=int, default=16384, metavar="N", help="context size of a local model (default 16384)"
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of masks and sampling (default 0)")


def _add_pack(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(
        parts, "pack", "turn the programs into training examples for a critic and a refiner", pack
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of `generate` and `inject`")
    add("--out", type=Path, metavar="DIR", help="the folder for the examples (default: DIR/lessons)")
    add("--without-feedback", action="store_true", help="omit results and traces")
    add(
        "--mix",
        type=float,
        default=1.0,
        metavar="X",
        help="wrong programs without a located error, per injected error (default 1)",
    )
    add(
        "--held-out",
        type=float,
        default=0.05,
        metavar="X",
        help="share of the samples for validation, and again for testing (default 0.05)",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of order and split (default 0)")


def _add_train(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "train", "fine-tune a language model on the examples", train)
    add = parser.add_argument
    add("examples", type=Path, metavar="FILE", help="a file of `pack`, such as critic/train-mix.jsonl")
    add(
        "--model",
        required=True,
        metavar="NAME",
        help="the base model: a folder, or a name on the Hugging Face hub",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder for the trained model; an unfinished one is resumed",
    )
    add("--recipe", type=Path, metavar="FILE", help="hyperparameters (JSON; default: those of the paper)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="set one, for example lora_rank=16")


def _add_evaluate(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(
        parts, "evaluate", "measure critic, refiner and task score by debugging round", evaluate
    )
    add = parser.add_argument
    add("runs", nargs="*", type=Path, metavar="DIR", help="folders of `bench run --strategy vdebugger`")
    add("--examples", type=Path, metavar="FILE", help="evaluate --model on these examples instead")
    add("--lessons", action=Deprecated, new="--examples", type=Path)
    add("--model", metavar="NAME", help="a trained model: a folder or a name")
    add(
        "--tokens",
        type=int,
        default=1024,
        metavar="N",
        help="tokens that the model reads and writes (default 1024)",
    )
    add("--json", action="store_true", help="print a JSON object instead of a table")


def _read_options(options: argparse.Namespace) -> Collection:
    from dataclasses import fields

    from pyvision.experiments.vdebugger_training.dataset import Collection

    settings = vars(options) | {
        "roles": parse_pairs(options, "--role"),
        "tools": parse_pairs(options, "--tool"),
        "options": parse_pairs(options, "--set"),
    }
    return Collection(**{each.name: settings[each.name] for each in fields(Collection)})


def _make_infill(options: argparse.Namespace) -> Infill:
    """The model that fills the masks. Raises ConfigError."""
    from pyvision.experiments.vdebugger_training.mask_best import MaskBest
    from pyvision.experiments.vdebugger_training.masking import PromptedInfill, api_and_examples

    if options.local is None:
        if options.decoding != "greedy":
            raise ConfigError(
                "mask_best needs the probabilities of every token; use --local instead of --model"
            )
        from pyvision.models.factory import resolve_model

        return PromptedInfill(resolve_model(options.model).model, api_and_examples())
    from pyvision.experiments.vdebugger_training.local_model import Local, LocalInfill
    from pyvision.experiments.vdebugger_training.masking import INFILL_TOKENS
    from pyvision.experiments.vdebugger_training.packing import TokenBudget

    rule = MaskBest(options.threshold, options.times) if options.decoding == "mask_best" else None
    token_budget = TokenBudget(options.tokens, INFILL_TOKENS, "start")
    model = Local(options.local, at_once=options.at_once)
    return LocalInfill(model, api_and_examples(), rule, token_budget, options.seed)


def _measure_runs(folders: list[Path]) -> dict[str, Any]:
    from pyvision.experiments.vdebugger_training.evaluation import measure, read_debugged

    return {str(folder): measure(*read_debugged(folder)) for folder in folders}


def _measure_examples(options: argparse.Namespace) -> Any:
    from pyvision.experiments.vdebugger_training.evaluation import measure_examples
    from pyvision.experiments.vdebugger_training.local_model import Local
    from pyvision.experiments.vdebugger_training.packing import TokenBudget
    from pyvision.experiments.vdebugger_training.records import TrainingExample, read

    token_budget = TokenBudget(options.tokens, min(256, options.tokens // 4))
    return measure_examples(
        tuple(read(options.examples, TrainingExample)), Local(options.model), token_budget
    )


def _format_table(measures: dict[str, Any]) -> str:
    from dataclasses import asdict

    from pyvision.experiments.vdebugger_training.evaluation import Measures, format_rows, table

    if all(isinstance(each, Measures) for each in measures.values()):
        return table(measures)
    names = asdict(next(iter(measures.values())))
    return format_rows(
        list(measures), {name: [getattr(m, name) for m in measures.values()] for name in names}
    )


def _print_progress(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr)  # noqa: T201 - where progress goes


def _print_result(text: str) -> int:
    """A result, on standard output; the exit code of success."""
    print(text)  # noqa: T201 - what the command is for
    return 0
