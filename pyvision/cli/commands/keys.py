"""`pyvision keys`: store keys of model endpoints, name them, remove them."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any

from pyvision.cli.flags import add_commands, add_part
from pyvision.errors import ConfigError, suggest

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(API_KEY|KEY|TOKEN)")
_MAX_KEY_CHARS = 1000


def add_keys(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `keys` and its parts."""
    parts = add_commands(commands, "keys")
    where = "PROVIDER is a name as --model takes it, or a variable such as TAVILY_API_KEY."
    for name, purpose, call in (
        ("set", "ask for a key, or read it from standard input, and store it", set_key),
        ("remove", "forget a stored key", remove_key),
    ):
        part = add_part(parts, name, purpose, call, where)
        part.add_argument("provider", metavar="PROVIDER", help="the provider that the key is for")
        part.add_argument("key", nargs="?", help=argparse.SUPPRESS)
        if call is set_key:
            part.add_argument("--keyring", action="store_true", help="in the system's keyring, not in a file")
    add_part(parts, "list", "list the stored keys by name, without their values", list_keys)
    add_part(parts, "path", "print the path of the key file", print_path)


def set_key(options: argparse.Namespace) -> int:
    """Store one key; returns the exit code."""
    from pyvision.config.stored_keys import (
        delete_from_keyring,
        keys_file,
        read_keys,
        store_in_keyring,
        write_keys,
    )

    if options.key is not None:
        raise ConfigError(
            "a key on the command line stays in the shell's history; leave it out to be prompted for it"
        )
    variable, file = _variable(options.provider), keys_file()
    stored, key = read_keys(file), _read_key(variable)
    if options.keyring:
        store_in_keyring(variable, key)
    elif variable in stored and stored[variable] is None:
        delete_from_keyring(variable)
    write_keys(file, {**stored, variable: None if options.keyring else key})
    _note(f"{variable} is stored in {'the keyring of the system' if options.keyring else file}")
    if os.environ.get(variable):
        _note(f"{variable} is also set in the environment, which comes first")
    return 0


def remove_key(options: argparse.Namespace) -> int:
    """Forget one key; returns the exit code."""
    from pyvision.config.stored_keys import delete_from_keyring, keys_file, read_keys, write_keys

    variable, file = _variable(options.provider), keys_file()
    stored = read_keys(file)
    if variable not in stored:
        raise ConfigError(f"no key {variable} is stored; pyvision keys list names those that are")
    if stored[variable] is None:
        delete_from_keyring(variable)
    write_keys(file, {name: key for name, key in stored.items() if name != variable})
    return 0


def list_keys(options: argparse.Namespace) -> int:
    """Print the names of the stored keys; returns the exit code."""
    from pyvision.config.stored_keys import keys_file, read_keys

    stored = sorted(read_keys(keys_file()))
    for variable in stored:
        print(variable)  # noqa: T201 - what the command is for
    if not stored:
        _note("no key is stored; pyvision keys set PROVIDER stores one")
    return 0


def print_path(options: argparse.Namespace) -> int:
    """Print where keys are stored; returns the exit code."""
    from pyvision.config.stored_keys import keys_file

    print(keys_file())  # noqa: T201 - what the command is for
    return 0


def _variable(provider: str) -> str:
    """The variable that holds a provider's key. Raises ConfigError."""
    if _VARIABLE.fullmatch(provider):
        return provider
    from pyvision.config.model_config import key_variables, list_shipped, load_shipped

    if provider not in list_shipped():
        hint = suggest(provider, list_shipped(), "give a variable such as TAVILY_API_KEY, or one of")
        raise ConfigError(f"unknown provider {provider!r}; {hint}")
    variables = key_variables(load_shipped(provider))
    if not variables:
        raise ConfigError(f"{provider!r} takes no key")
    return variables[0]


def _read_key(variable: str) -> str:
    """The key, typed without an echo or piped in: an argument would stay in the history of the shell."""
    if sys.stdin.isatty():
        from getpass import getpass

        key = getpass(f"{variable}: ")
    else:
        key = sys.stdin.readline(_MAX_KEY_CHARS + 2)
    key = key.strip()
    if not key or len(key) > _MAX_KEY_CHARS or not key.isprintable() or " " in key:
        raise ConfigError("that is not a key: it is empty, too long, or contains spaces; nothing was stored")
    return key


def _note(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 - not the output
