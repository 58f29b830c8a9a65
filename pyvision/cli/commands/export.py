"""`pyvision export`: a recorded run as a notebook or as training data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pyvision.cli.flags import add_recorded_run, find_recorded_run
from pyvision.errors import ConfigError

_FILES = (".ipynb", ".json", ".jsonl")
_FORMATS = "ipynb, messages, pyvision, sharegpt, swift, verl or atif"


def add_export(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `export` and its flags."""
    parser = commands.add_parser(
        "export",
        description="Write a recorded run as a notebook or as training data, and print the path of the file. "
        "Images are written beside it.",
    )
    add_recorded_run(parser)
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_FORMATS)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder to write to (default: RUN_DIR/exports/FORMAT)"
    )
    parser.set_defaults(call=export_run)


def export_run(options: argparse.Namespace) -> int:
    """Write the files; returns the exit code."""
    from pyvision.runs.export import export
    from pyvision.runs.run import read_run

    run_dir = find_recorded_run(options)
    folder = options.out or run_dir / "exports" / options.to
    if folder.suffix in _FILES and not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} names a file; give a folder: --out {folder.with_suffix('')}")
    print(export(read_run(run_dir), options.to, folder))  # noqa: T201 - what the command is for
    return 0
