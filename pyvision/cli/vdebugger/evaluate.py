"""`pyvision vdebugger evaluate`: measure debugging in experiments, or a trained model on lessons."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pyvision.cli.vdebugger.output import write
from pyvision.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("runs", nargs="*", type=Path, metavar="DIR", help="folders of `bench run --strategy vdebugger`")
    add("--lessons", type=Path, metavar="FILE", help="lessons that --model is asked instead")
    add("--model", metavar="NAME", help="a trained model: a folder or a name")
    add("--tokens", type=int, default=1024, metavar="N", help="that it reads and writes (default 1024)")
    add("--json", action="store_true", help="print one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Measure, and print the table; returns the exit code."""
    import json
    from dataclasses import asdict

    if options.lessons is not None:
        if options.model is None or options.runs:
            raise ConfigError("evaluate --lessons needs the --model that is asked them, and no run folder")
        measures: Any = {options.model: _of_examples(options)}
    elif options.runs:
        measures = _of_runs(options.runs)
    else:
        raise ConfigError("nothing to evaluate; name run folders, or --lessons FILE --model NAME")
    if options.json:
        return write(json.dumps({name: asdict(each) for name, each in measures.items()}))
    return write(f"percent [95 % interval] of how many\n{_table(measures)}")


def _of_runs(folders: list[Path]) -> dict[str, Any]:
    from pyvision.experiments.vdebugger_training.evaluation import measure, read_debugged

    return {str(folder): measure(*read_debugged(folder)) for folder in folders}


def _of_examples(options: argparse.Namespace) -> Any:
    from pyvision.experiments.vdebugger_training.evaluation import measure_examples
    from pyvision.experiments.vdebugger_training.local_model import Local
    from pyvision.experiments.vdebugger_training.packing import TokenBudget
    from pyvision.experiments.vdebugger_training.records import Example, read

    token_budget = TokenBudget(options.tokens, min(256, options.tokens // 4))
    return measure_examples(tuple(read(options.lessons, Example)), Local(options.model), token_budget)


def _table(measures: dict[str, Any]) -> str:
    from dataclasses import asdict

    from pyvision.experiments.vdebugger_training.evaluation import Measures, format_rows, table

    if all(isinstance(each, Measures) for each in measures.values()):
        return table(measures)
    names = asdict(next(iter(measures.values())))
    return format_rows(
        list(measures), {name: [getattr(m, name) for m in measures.values()] for name in names}
    )
