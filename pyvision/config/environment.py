"""What is in force: environment variables, `.env` files, stored keys and `pyvision.toml`, each with its source.

A variable comes from the first of: the environment, the nearest `.env` from the working folder upwards, the `.env` of
the user's folder, the keys of `pyvision keys`. Settings come from the nearest `pyvision.toml` upwards, then from that
of the user's folder; its `model` counts as PYVISION_MODEL. The user's folder is `~/.config/pyvision`, or what
PYVISION_CONFIG names; with PYVISION_CONFIG=none no file is read.

Covered: a `.env` that came with a project cannot send a key to an address of its choice. If it names an address that is
not on this machine, only keys of the same file are used. Files that other users can change are refused.
Not covered: a project may choose the model, and with it what a question costs.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.config.files import KEYS_FILE, config_folder, read_trusted
from pyvision.errors import ConfigError, reason, suggest

ENVIRONMENT = "environment"
ENV_FILE, TOML_FILE = ".env", "pyvision.toml"
SETTINGS: Mapping[str, type] = {  # of pyvision.toml
    "model": str,
    "strategy": str,
    "max_turns": int,
    "max_tokens": int,
    "max_pictures": int,
    "max_bytes": int,
    "max_seconds": float,
    "max_uses": int,
    "max_cost": float,
    "cell_timeout": float,
}
ADDRESSES = frozenset(  # variables that say where requests and their keys go
    (
        "ANTHROPIC_BASE_URL",
        "AZURE_OPENAI_ENDPOINT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_VERTEX_BASE_URL",
        "OPENAI_BASE_URL",
        "PYVISION_BASE_URL",
        "SERPAPI_BASE_URL",
        "TAVILY_BASE_URL",
    )
)
_KEY = re.compile(r"\w+_API_KEY|LITELLM_MASTER_KEY", re.ASCII)
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SourcedValue:
    """A value, and the file or the environment that it comes from."""

    value: Any
    source: str


def environment() -> dict[str, str]:
    """The variables of the process, and those that files add. Raises ConfigError for a file that cannot be used."""
    return {name: found.value for name, found in find_variables().items()}


def find_variables() -> dict[str, SourcedValue]:
    """The same with the source of each."""
    found: dict[str, SourcedValue] = {
        name: SourcedValue(value, ENVIRONMENT) for name, value in os.environ.items() if value.strip()
    }
    folder = config_folder()
    if folder is None:
        return found
    project = _find_upwards(ENV_FILE)
    if project is not None and project.parent != folder:
        found = _with_project(found, project)
    if not _names_remote_address(found, project):
        file = folder / ENV_FILE
        found = {name: SourcedValue(value, str(file)) for name, value in _read_env(file).items()} | found
        found = _find_stored(folder / KEYS_FILE, found) | found
    if "PYVISION_MODEL" not in found and (model := find_settings().get("model")):
        found["PYVISION_MODEL"] = model
    return found


def find_settings() -> dict[str, SourcedValue]:
    """The settings of pyvision.toml by name. Raises ConfigError."""
    folder = config_folder()
    if folder is None:
        return {}
    files = dict.fromkeys(filter(None, (folder / TOML_FILE, _find_upwards(TOML_FILE))))
    return {name: found for file in files for name, found in _read_toml(file).items()}


def is_key(name: str) -> bool:
    """Whether a variable of this name holds a key."""
    return _KEY.fullmatch(name) is not None


def is_ours(name: str) -> bool:
    """Whether PyVision reads a variable of this name."""
    return name.startswith("PYVISION_") or name in ADDRESSES or is_key(name)


def _find_stored(file: Path, known: Collection[str]) -> dict[str, SourcedValue]:
    if not file.is_file():
        return {}
    from pyvision.config.stored_keys import find_stored_keys

    return {name: SourcedValue(*key) for name, key in find_stored_keys(file, known).items()}


def _with_project(found: dict[str, SourcedValue], file: Path) -> dict[str, SourcedValue]:
    """The variables with those of a project's `.env`, which must not send other keys to its own address."""
    own = {name: SourcedValue(value, str(file)) for name, value in _read_env(file).items()}
    merged = own | found
    if not _names_remote_address(merged, file):
        return merged
    key = next(
        (name for name in sorted(own, reverse=True) if is_key(name)), None
    )  # PYVISION_API_KEY if it is there
    if key is None:
        where = next(name for name in own if name in ADDRESSES)
        way = f"put that key into the same file, or export {where}"
        raise ConfigError(f"{file}: {where} would be sent a key from another source; {way}")
    others = {name: value for name, value in found.items() if not is_key(name)}
    return (
        own | others | {"PYVISION_API_KEY": own.get("PYVISION_API_KEY", own[key])}
    )  # replaces keys of any --config


def _names_remote_address(found: Mapping[str, SourcedValue], project: Path | None) -> bool:
    """Whether an address in force comes from the project's `.env` and leads to another machine."""
    return project is not None and any(
        name in ADDRESSES and each.source == str(project) and not _leads_here(each.value)
        for name, each in found.items()
    )


def _leads_here(address: str) -> bool:
    from pyvision.config.model_config import is_local

    try:
        return is_local(address)
    except ValueError:  # brackets that do not match: refused where it is used
        return False


def _read_env(file: Path) -> dict[str, str]:
    """The variables of a `.env` that PyVision knows: NAME=value, with or without quotes and `export`."""
    found = {}
    for line in (read_trusted(file) or "").splitlines():
        parsed = _LINE.fullmatch(line) if len(line) < 10_000 else None
        if parsed and is_ours(parsed[1]) and (value := _unquote(parsed[2])):
            found[parsed[1]] = value
    return found


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.partition(" #")[0].strip()


def _read_toml(file: Path) -> dict[str, SourcedValue]:
    text = read_trusted(file)
    try:
        content = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not TOML: {reason(error)}") from None
    return dict(_check_settings(file, content))


def _check_settings(file: Path, content: Mapping[str, Any]) -> Iterator[tuple[str, SourcedValue]]:
    for name, value in content.items():
        kind = SETTINGS.get(name)
        if kind is None:
            hint = suggest(name, SETTINGS, "known settings are")
            raise ConfigError(f"{file}: unknown setting {name!r}; {hint}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (isinstance(value, kind) or (kind is float and is_number)) or (
            is_number and not 0 < value < 1e15
        ):
            what = "text" if kind is str else "a positive number" if kind is float else "a positive integer"
            raise ConfigError(f"{file}: {name} is {value!r}; it takes {what}")
        yield name, SourcedValue(value, str(file))


def _find_upwards(name: str) -> Path | None:
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the working folder was removed
        return None
    return next((folder / name for folder in (here, *here.parents) if (folder / name).is_file()), None)
