"""What flags take: numbers, which argparse tells in one line where they are none, and pairs KEY=VALUE."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

from pyvision.errors import ConfigError


def count(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def above_zero(text: str) -> float:
    """A finite number above 0."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def pairs(flag: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """KEY=VALUE each; the last one of a key holds. Raises ConfigError, which shows the example."""
    return dict(_pair(flag, text, example) for text in texts)


def _pair(flag: str, text: str, example: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"{flag} {text!r} is not KEY=VALUE, as in {flag} {example}")
    return key.strip(), value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


class Deprecated(argparse.Action):
    """The old name of a flag: it sets the new one, warns, and does not stand in the help."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, new: str, **settings: Any) -> None:
        del dest
        self._new = new
        target = new.lstrip("-").replace("-", "_")
        super().__init__(
            option_strings, target, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **settings
        )

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        del parser
        warnings.warn(f"{option_string} is now {self._new}", DeprecationWarning, stacklevel=2)
        setattr(namespace, self.dest, values)
