"""`pyvision report`: a recorded run as one HTML file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pyvision.cli.flags import add_recorded_run, find_recorded_run


def add_report(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `report` and its flags."""
    parser = commands.add_parser(
        "report",
        description="Write a recorded run as one HTML file, and print its path. The file works offline and contains no "
        "scripts.",
    )
    add_recorded_run(parser)
    parser.add_argument("--open", action="store_true", help="open the report in the browser")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write (default: RUN_DIR/report.html)"
    )
    parser.set_defaults(call=report_run)


def report_run(options: argparse.Namespace) -> int:
    """Write the page; returns the exit code."""
    folder = find_recorded_run(options)
    path = options.out or folder / "report.html"
    if options.open:
        return open_report(folder, path)
    write_report(folder, path)
    print(path)  # noqa: T201 - what the command is for
    return 0


def write_report(folder: Path, path: Path) -> None:
    """Write the page of a run. Raises RunFolderError."""
    from pyvision.config.files import write_file
    from pyvision.runs.report import report
    from pyvision.runs.run import read_run

    write_file(path, report(read_run(folder)).encode())


def open_report(folder: Path, path: Path) -> int:
    """Write the page of a run, print its path and open it in the browser; returns the exit code."""
    import webbrowser

    write_report(folder, path)
    print(path)  # noqa: T201 - what the command is for
    if not webbrowser.open(path.resolve().as_uri()):
        print("no browser could be opened; open the file yourself", file=sys.stderr)  # noqa: T201
    return 0
