"""What the commands of `pyvision vdebugger` share on the command line: pairs of flags, progress and results."""

from __future__ import annotations

import sys

from pyvision.errors import ConfigError


def pairs(flag: str, given: list[str]) -> dict[str, str]:
    """KEY=VALUE of a repeated flag. Raises ConfigError."""
    split = [text.partition("=") for text in given]
    for key, equals, _ in split:
        if not key or not equals:
            raise ConfigError(f"{flag} {key!r}: give it as KEY=VALUE")
    return {key: value for key, _, value in split}


def tell(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr)  # noqa: T201 - where progress goes


def write(text: str) -> int:
    """A result, on standard output; the exit code of success."""
    print(text)  # noqa: T201 - what the command is for
    return 0
