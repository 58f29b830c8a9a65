"""`pyvision sandbox check`: what `python -m sandbox check` does."""

from __future__ import annotations

import argparse
from typing import Any


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser("sandbox")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    checking = parts.add_parser("check", help="try to break out, on this machine")
    checking.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    checking.add_argument("--topic", metavar="NAME", help="only these attacks")
    checking.set_defaults(call=check)


def check(options: argparse.Namespace) -> int:
    """0 when everything was contained, 1 when anything got out, 5 without isolation."""
    from sandbox.escape_tests.command import check as check_machine

    return check_machine(options)
