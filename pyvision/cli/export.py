"""`pyvision export`: a recorded run as a notebook or as training data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

_FORMATS = "ipynb, messages, pyvision, sharegpt, swift, verl or atif"


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "export",
        description="Pictures lie beside the file; its path is printed on standard output.",
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the folder of a run")
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_FORMATS)
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to (default: RUN_DIR/exports/FORMAT)")
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Write the files; returns the exit code."""
    from pyvision.runs.export import export
    from pyvision.runs.report import read_run

    folder = options.out or options.run_dir / "exports" / options.to
    print(export(read_run(options.run_dir), options.to, folder))  # noqa: T201 - what the command is for
    return 0
