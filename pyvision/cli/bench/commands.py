"""`pyvision bench`: the table of its commands."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

_COMMANDS = (  # name, what it does, the module with `add_arguments(parser)` and `run(options) -> exit code`
    ("run", "answer every sample of a dataset, or go on with that", "pyvision.cli.bench.run"),
    ("list", "the datasets, generated sets and metrics that are known", "pyvision.cli.bench.list"),
    ("grade", "score the answers of a run again, by this or another metric", "pyvision.cli.bench.grade"),
    ("report", "what a run came to, by category, with intervals and costs", "pyvision.cli.bench.report"),
    ("compare", "runs over the same samples, set against the first", "pyvision.cli.bench.compare"),
    ("audit", "whether the tools helped, from the ablations of an audit", "pyvision.cli.bench.audit"),
    ("export", "write the records and scores of a run in another format", "pyvision.cli.bench.export"),
)


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parser = commands.add_parser("bench")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, purpose, module in _COMMANDS:
        command = import_module(module)
        part = parts.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        command.add_arguments(part)
        part.set_defaults(call=command.run)
