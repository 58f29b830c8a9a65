"""`pyvision config`: show the settings in force, and where they come from."""

from __future__ import annotations

import argparse
import json
from typing import Any


def add_config(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `config`."""
    parser = commands.add_parser(
        "config",
        description="Show the settings in force and where they come from. Keys are named, never printed.",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser.set_defaults(call=show_config)


def show_config(options: argparse.Namespace) -> int:
    """Print each setting and variable in force with its source; returns the exit code."""
    from pyvision.config.environment import find_settings, find_variables, is_ours
    from pyvision.config.model_config import default_model

    variables = {name: each for name, each in find_variables().items() if is_ours(name)}
    chosen = default_model({name: each.value for name, each in variables.items()})
    source = "no key is set" if chosen == "offline" else "keys that are set"
    if "PYVISION_MODEL" in variables:
        source = variables["PYVISION_MODEL"].source
    rows = [("model", chosen, source)]
    rows += [
        (name, str(each.value), each.source) for name, each in find_settings().items() if name != "model"
    ]
    rows += [
        (name, _display_value(name, each.value), each.source) for name, each in sorted(variables.items())
    ]
    if options.json:
        found = [dict(zip(("name", "value", "source"), row, strict=True)) for row in rows]
        print(json.dumps(found, ensure_ascii=False, indent=2))  # noqa: T201 - what the command is for
        return 0
    from pyvision.text.sanitize import printable

    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, source in rows:
        print(printable(f"{name:{widths[0]}}  {value:{widths[1]}}  {source}"))  # noqa: T201
    return 0


def _display_value(name: str, value: str) -> str:
    from pyvision.config.environment import is_key
    from pyvision.config.model_config import without_credentials

    return "(set)" if is_key(name) else without_credentials(value) if "://" in value else value
