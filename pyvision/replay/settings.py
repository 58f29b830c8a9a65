"""What a recorded run was given, as values again.

Where cells run is not for a record to say, as somebody else may have written it: its limits are taken over, `isolation`
and `python` are not. Settings of another release that this one does not know are left aside.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from pyvision.budget import Limits
from pyvision.errors import ConfigError
from pyvision.report.run import Run
from sandbox import Policy

_Settings = TypeVar("_Settings", Policy, Limits)
_NOT_FROM_A_RECORD = {"isolation", "python"}


def policy_of(run: Run) -> Policy:
    """The limits of its cells. Raises ConfigError."""
    return _settings(run, "policy", Policy)


def limits_of(run: Run) -> Limits:
    """Its budgets. Raises ConfigError."""
    return _settings(run, "limits", Limits)


def options_of(run: Run) -> dict[str, str]:
    """The options of its strategy, as `--set` takes them. Raises ConfigError."""
    return {key: str(value) for key, value in _object(run, "options").items() if value is not None}


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
