"""The exit codes of all commands, the code for the end of a run, and the one line that comes with a failure."""

from __future__ import annotations

import sys
from contextlib import suppress

from pyvision.errors import EndReason

BUG, USAGE, NO_ANSWER, ENDPOINT, NO_ISOLATION, INTERRUPTED = 1, 2, 3, 4, 5, 130
BROKEN_PIPE = 141  # 128 plus the number of SIGPIPE: what a shell reports for a program killed by SIGPIPE
HELP = """\
exit codes:
    0  success                           4  the model endpoint failed
    1  a bug in pyvision                 5  no isolation available
    2  invalid usage or configuration  130  interrupted
    3  no answer, for example because  141  the reader of standard output
       a limit was reached                  closed the pipe"""
_BY_END: dict[EndReason, int] = {
    "answered": 0,
    "model_error": ENDPOINT,
    "sandbox_error": NO_ISOLATION,
    "interrupted": INTERRUPTED,
    "error": BUG,
}


def exit_code(end_reason: EndReason) -> int:
    """The exit code of a command whose run ended for this reason."""
    return _BY_END.get(end_reason, NO_ANSWER)


def fail(message: str, code: int) -> int:
    """Print an error, and return the exit code."""
    with suppress(OSError):  # standard error may be a pipe without a reader, or a terminal that is gone
        print(f"pyvision: {message}", file=sys.stderr, flush=True)  # noqa: T201 - the only place that prints errors
    return code
