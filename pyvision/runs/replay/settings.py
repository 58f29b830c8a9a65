"""What a recorded run was given, as values again.

Where cells run is not for a record to say, as somebody else may have written it: its limits are taken over,
`isolation`, `python` and `modules` are not; nor is it for a record to say which network is fetched and loaded
(`hf:NAME`). Settings of another release that this one does not know are left aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from pyvision.agent.budget import Limits
from pyvision.errors import ConfigError
from pyvision.runs.report.run import Run
from pyvision.tools.registry import read_choice
from sandbox import Policy

_Settings = TypeVar("_Settings", Policy, Limits)
_NOT_FROM_A_RECORD = {"isolation", "python", "modules"}


def policy_of(run: Run) -> Policy:
    """The limits of its cells. Raises ConfigError."""
    return _settings(run, "policy", Policy)


def limits_of(run: Run) -> Limits:
    """Its budgets. Raises ConfigError."""
    return _settings(run, "limits", Limits)


def options_of(run: Run) -> dict[str, str]:
    """The options of its strategy, as `--set` takes them. Raises ConfigError."""
    return {key: str(value) for key, value in _object(run, "options").items() if value is not None}


def tools_of(run: Run) -> dict[str, str]:
    """Who provided its tools, as `--tool` takes it, where somebody had chosen that. No key stands in a record."""
    model = _object(run, "model")
    is_offline = "offline" in (model.get("wire"), model.get("name"))
    told = {name: str(provider) for name, provider in _object(run, "tools").items()}
    return read_choice(told, is_offline=is_offline)


def refuse_networks(tools: Mapping[str, str]) -> None:
    """Raises ConfigError for a network of the record's choice that does not lie on this machine."""
    for name, provider in tools.items():
        kind, _, where = provider.partition(":")
        if kind == "hf" and not Path(where).is_dir():
            told = f"--tool {name}={provider}"
            raise ConfigError(
                f"the record loads a network, {where!r}; say so too: {told}, or another provider"
            )


def _settings(run: Run, name: str, kind: type[_Settings]) -> _Settings:
    from pydantic import TypeAdapter

    known = {field.name for field in fields(kind)} - _NOT_FROM_A_RECORD
    values = {key: value for key, value in _object(run, name).items() if key in known}
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValueError as error:
        why = " ".join(str(error).split())[:200]
        raise ConfigError(f"{str(run.folder)!r}: config.json: {name}: {why}") from error


def _object(run: Run, name: str) -> dict[str, Any]:
    found = run.config.get(name) or {}
    if not isinstance(found, dict):
        raise ConfigError(f"{str(run.folder)!r}: config.json: {name} is {found!r:.80}; it must be an object")
    return found
