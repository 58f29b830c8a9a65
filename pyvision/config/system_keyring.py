"""Keys in the system's keyring (extra `keyring`): Secret Service, KWallet, the keychain of macOS, that of Windows.

Covered: a key that is neither in a file nor in the environment.
Not covered: other programs of the same user, which may ask the keyring for the key as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyvision.errors import ConfigError, MissingExtra, reason

_SERVICE = "pyvision"


def find_key(variable: str) -> str | None:
    """The key of a variable; None if the keyring has none. Raises ConfigError if it cannot be asked."""
    key: str | None = _call("get_password", variable)
    return key


def store_key(variable: str, key: str) -> None:
    """Keep the key. Raises ConfigError."""
    _call("set_password", variable, key)


def delete_key(variable: str) -> None:
    """Forget the key, if the keyring has one. Raises ConfigError."""
    if find_key(variable) is not None:
        _call("delete_password", variable)


def _call(function: str, variable: str, *key: str) -> Any:
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
