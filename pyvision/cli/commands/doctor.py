"""`pyvision doctor` and `sandbox check`: what an endpoint and this machine support."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pyvision.cli.flags import add_commands, add_model, add_part
from pyvision.config.environment import environment


def add_doctor(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "doctor",
        description="Check what a model endpoint supports, and whether this machine can run cells. "
        "Sends at most fourteen requests. The results are saved and used by later runs.",
    )
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of a table")
    parser.set_defaults(call=run_doctor)


def add_sandbox(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `sandbox check` and its flags."""
    parts = add_commands(commands, "sandbox")
    parser = add_part(parts, "check", "run known attacks on the sandbox of this machine", check_sandbox)
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of a table")
    parser.add_argument("--topic", metavar="NAME", help="run only the attacks of one topic")
    tiers = ("auto", "bwrap", "landlock")
    parser.add_argument("--isolation", choices=tiers, default="auto", help="the tier of isolation to check")


def run_doctor(options: argparse.Namespace) -> int:
    """Check, print the results, save the profile; returns the exit code."""
    import json
    from dataclasses import asdict

    from pyvision.config.endpoints import write_profile
    from pyvision.config.model_config import load_model_config
    from pyvision.doctor import run_probes

    config = load_model_config(options.model, options.config, environment())
    found = run_probes(config, _print_progress)
    saved = write_profile(found.profile) if found.profile else None
    if options.json:
        results = asdict(found) | {"profile_file": str(saved) if saved else None}
        print(json.dumps(results, ensure_ascii=False))  # noqa: T201 - what the command is for
    else:
        print(found.table)  # noqa: T201 - the same
        if saved:
            print(f"\nsaved for later runs in {saved}")  # noqa: T201 - the same
    if found.endpoint_failed:
        return 4
    return 0 if found.is_isolated else 5


def check_sandbox(options: argparse.Namespace) -> int:
    """Returns 0 if every attack was contained, 1 if any succeeded, 5 without isolation."""
    from sandbox.escape_tests.command import check as check_machine

    return check_machine(options)


def _print_progress(subject: str) -> None:
    if sys.stderr.isatty():
        print(f"checking: {subject}", file=sys.stderr)  # noqa: T201 - it may take a minute
