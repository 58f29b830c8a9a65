"""Standard output as a command meets it: a pipe without a reader, a full disk, an encoding that lacks characters."""

from __future__ import annotations

import errno
import io
import os
import select
import sys

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def escape_missing_characters() -> None:
    """Print characters that the encoding of standard output lacks as escapes, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def is_unread() -> bool:
    """Whether standard output is a pipe whose reader has exited, as `head -1` does after one line."""
    try:
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in output.poll(0))
    except (OSError, ValueError):  # closed, or not a file
        return False


def is_full(error: BaseException) -> bool:
    """Whether there was no space for what was written."""
    return isinstance(error, OSError) and error.errno in _FULL


def discard_output() -> None:
    """Send the rest of the buffer to /dev/null, to prevent a second error when the interpreter exits."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
    sys.stdout.flush()
