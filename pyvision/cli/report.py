"""`pyvision report`: a recorded run as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "report",
        description="The file opens offline, and holds no script. Its path is printed on standard output.",
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the folder of a run")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to (default: RUN_DIR/report.html)")
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Write the page; returns the exit code."""
    from pyvision.runs.report import read_run, report
    from pyvision.runs.report.run import write_file

    path = options.out or options.run_dir / "report.html"
    write_file(path, report(read_run(options.run_dir)).encode())
    print(path)  # noqa: T201 - what the command is for
    return 0
