"""Declare the commands of `pyvision vdebugger`."""

from __future__ import annotations

import argparse
from typing import Any

from pyvision.cli.vdebugger import evaluate, generate, inject, pack, train

_HELP = {
    generate: "write and run a program for each sample of a dataset",
    inject: "put errors into the right ones of those programs",
    pack: "make lessons of them for a critic and a refiner",
    train: "train a language model on lessons",
    evaluate: "measure critic, refiner and task score by round",
}


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parser = commands.add_parser("vdebugger")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, purpose in _HELP.items():
        part = parts.add_parser(command.__name__.rpartition(".")[2], help=purpose)
        command.add_arguments(part)
        part.set_defaults(call=command.run)
