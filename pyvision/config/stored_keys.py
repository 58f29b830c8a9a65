"""The keys that `pyvision keys` stores: in a file that only its user can read, or in the keyring of the system.

Not covered: the keyring (extra `keyring`: Secret Service, KWallet, those of macOS and Windows) may give a key to other
programs of the user as well.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.config.files import KEYS_FILE, config_folder, read_trusted, write_atomic
from pyvision.errors import ConfigError, MissingExtra, reason

KEYRING = "keyring of the system"
_SERVICE = "pyvision"  # the name under which the keyring holds keys


def keys_file() -> Path:
    """The file of stored keys. Raises ConfigError if PYVISION_CONFIG forbids files."""
    folder = config_folder()
    if folder is None:
        raise ConfigError("PYVISION_CONFIG is 'none', so no key can be stored; unset it")
    return folder / KEYS_FILE


def read_keys(file: Path) -> dict[str, str | None]:
    """Variable -> key, or None if the system's keyring holds it. Raises ConfigError for a file that others can read."""
    text = read_trusted(file)
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


def find_stored_keys(file: Path, known: Collection[str]) -> dict[str, tuple[str, str]]:
    """Variable -> (stored key, where) for variables that are not known yet; the keyring is asked for what it holds."""
    wanted = {name: key for name, key in read_keys(file).items() if name not in known}
    stored = {name: (key, str(file)) for name, key in wanted.items() if key is not None}
    if len(stored) == len(wanted):
        return stored
    asked = {name: _find_key_in_keyring(name) for name in wanted if name not in stored}
    return stored | {name: (key, KEYRING) for name, key in asked.items() if key is not None}


def store_in_keyring(variable: str, key: str) -> None:
    """Keep the key of a variable in the keyring of the system. Raises ConfigError."""
    _call_keyring("set_password", variable, key)


def delete_from_keyring(variable: str) -> None:
    """Forget the key of a variable, if the keyring has one. Raises ConfigError."""
    if _find_key_in_keyring(variable) is not None:
        _call_keyring("delete_password", variable)


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
