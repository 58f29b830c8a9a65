"""What is in force: environment variables, `.env` files, stored keys and `pyvision.toml`, each with its source.

A variable comes from the first of: the environment, the nearest `.env` from the working folder upwards, the `.env` of
the user's folder, the keys of `pyvision keys`. Settings come from the nearest `pyvision.toml` upwards, then from that
of the user's folder; its `model` counts as PYVISION_MODEL. The user's folder is `~/.config/pyvision`, or what
PYVISION_CONFIG names; with PYVISION_CONFIG=none no file is read.

Covered: a `.env` that came with a project cannot send a key to an address of its choice. If it names an address that is
not on this machine, only keys of the same file are used. Files that other users can change are refused.
Not covered: a project may choose the model, and with it what a question costs. The keyring of the system (extra
`keyring`: Secret Service, KWallet, those of macOS and Windows) may give a key to other programs of the user as well.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.config.files import write_atomic
from pyvision.errors import ConfigError, MissingExtra, reason, suggest

ENVIRONMENT, KEYRING = "environment", "keyring of the system"
ENV_FILE, TOML_FILE, KEYS_FILE = ".env", "pyvision.toml", "keys.json"
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
_MAX_BYTES = 100_000
_SERVICE = "pyvision"  # the name under which the keyring holds keys


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
        found = _find_stored_keys(folder / KEYS_FILE, found) | found
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


def config_folder() -> Path | None:
    """The user's folder; None if no file may be read."""
    own = os.environ.get("PYVISION_CONFIG", "")
    if own == "none":
        return None
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(own) if own else Path(home) / "pyvision"


def keys_file() -> Path:
    """The file of stored keys. Raises ConfigError if PYVISION_CONFIG forbids files."""
    folder = config_folder()
    if folder is None:
        raise ConfigError("PYVISION_CONFIG is 'none', so no key can be stored; unset it")
    return folder / KEYS_FILE


def read_keys(file: Path) -> dict[str, str | None]:
    """Variable -> key, or None if the system's keyring holds it. Raises ConfigError for a file that others can read."""
    text = _text(file)
    if text is None:
        return {}
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"{file}: other users can read these keys; run chmod 600 {file}")
    try:
        keys = json.loads(text)
    except ValueError:
        keys = None
    if not isinstance(keys, dict) or not all(isinstance(key, str | None) for key in keys.values()):
        raise ConfigError(f"{file}: is not a JSON object of keys; remove it, and use pyvision keys set")
    return keys


def write_keys(file: Path, keys: Mapping[str, str | None]) -> None:
    """Replace the file of keys; only its user can read it. Raises ConfigError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = os.umask(0o177)
        try:
            write_atomic(file, json.dumps(dict(keys), indent=2).encode() + b"\n")
        finally:
            os.umask(before)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({reason(error)})") from error


def store_in_keyring(variable: str, key: str) -> None:
    """Keep the key of a variable in the keyring of the system. Raises ConfigError."""
    _call_keyring("set_password", variable, key)


def delete_from_keyring(variable: str) -> None:
    """Forget the key of a variable, if the keyring has one. Raises ConfigError."""
    if _find_key_in_keyring(variable) is not None:
        _call_keyring("delete_password", variable)


def _find_stored_keys(file: Path, known: Mapping[str, object]) -> dict[str, SourcedValue]:
    """The stored keys of variables that are not known yet; the keyring is asked for those that it holds."""
    wanted = {name: key for name, key in read_keys(file).items() if name not in known}
    stored = {name: SourcedValue(key, str(file)) for name, key in wanted.items() if key is not None}
    if len(stored) == len(wanted):
        return stored
    asked = {name: _find_key_in_keyring(name) for name in wanted if name not in stored}
    return stored | {name: SourcedValue(key, KEYRING) for name, key in asked.items() if key is not None}


def _find_key_in_keyring(variable: str) -> str | None:
    """The key of a variable; None if the keyring has none. Raises ConfigError if it cannot be asked."""
    key: str | None = _call_keyring("get_password", variable)
    return key


def _call_keyring(function: str, variable: str, *key: str) -> Any:
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ModuleNotFoundError:
        raise MissingExtra("keyring", "keyring") from None
    try:
        return getattr(keyring, function)(_SERVICE, variable, *key)
    except errors.KeyringError as error:
        way = f"export {variable}, or store it without --keyring"
        raise ConfigError(
            f"{variable}: the system's keyring cannot be used ({reason(error)}); {way}"
        ) from None


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
        raise ConfigError(f"{file}: {where} would get a key from elsewhere; {way}")
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
    for line in (_text(file) or "").splitlines():
        parsed = _LINE.fullmatch(line) if len(line) < 10_000 else None
        if parsed and is_ours(parsed[1]) and (value := _unquote(parsed[2])):
            found[parsed[1]] = value
    return found


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.partition(" #")[0].strip()


def _read_toml(file: Path) -> dict[str, SourcedValue]:
    text = _text(file)
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


def _text(file: Path) -> str | None:
    """The text of a file; None if there is none. Raises ConfigError for one that others could have written."""
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_uid not in (os.geteuid(), 0) or status.st_mode & stat.S_IWOTH:
                raise ConfigError(
                    f"{file}: another user can change this file; remove it, or run chown and chmod o-w"
                )
            data = opened.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigError(f"{file}: larger than {_MAX_BYTES:,} bytes; shorten it")
        return data.decode()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read ({reason(error)})") from error
