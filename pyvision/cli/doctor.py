"""`pyvision doctor`: a table of what an endpoint accepts and sees, and of what this machine has to offer."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pyvision.cli.settings import add_model


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "doctor",
        description="Asks the endpoint at most a dozen times. What it finds is kept for later runs.",
    )
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Examine, print, keep the profile; returns the exit code."""
    import json
    import os
    from dataclasses import asdict

    from pyvision.config.endpoints import write_profile
    from pyvision.config.model_config import load_model_config
    from pyvision.doctor import run_probes

    config = load_model_config(options.model, options.config, os.environ)
    found = run_probes(config, _tell)
    kept = write_profile(found.profile) if found.profile else None
    if options.json:
        told = asdict(found) | {"profile_file": str(kept) if kept else None}
        print(json.dumps(told, ensure_ascii=False))  # noqa: T201 - what the command is for
    else:
        print(found.table)  # noqa: T201 - likewise
        if kept:
            print(f"\nkept for later runs in {kept}")  # noqa: T201 - likewise
    if found.endpoint_failed:
        return 4
    return 0 if found.is_isolated else 5


def _tell(subject: str) -> None:
    if sys.stderr.isatty():
        print(f"looking at: {subject}", file=sys.stderr)  # noqa: T201 - it may take a minute
