"""What the commands of `pyvision vdebugger` share on the command line: progress and results."""

from __future__ import annotations

import sys


def tell(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr)  # noqa: T201 - where progress goes


def write(text: str) -> int:
    """A result, on standard output; the exit code of success."""
    print(text)  # noqa: T201 - what the command is for
    return 0
