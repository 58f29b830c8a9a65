"""Read the command line, call the command, turn what went wrong into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pyvision.cli import doctor, run, sandbox
from pyvision.cli.interrupts import Interrupts
from pyvision.errors import ModelError, PyVisionError

EXIT_CODES = """\
exit codes:
  0  answered              3  no answer: a limit was reached, or nothing to say
  1  a bug                 4  the model endpoint failed
  2  wrong usage           5  no isolation available         130  interrupted"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of argparse's usage dump."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the installed version; looked up only here, as it takes a while."""
        from importlib.metadata import version

        parser.exit(0, f"pyvision {version('pyvision')}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    interrupts = Interrupts()
    try:
        return int(options.call(options))
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except ModelError as error:
        return _fail(str(error), 4)
    except PyVisionError as error:
        return _fail(str(error), 2)
    except Exception as error:  # the boundary: a person gets one line, never a traceback
        if interrupts.seen:  # in the middle of an import, C code makes another error of it
            return _fail("interrupted", 130)
        if os.environ.get("PYVISION_DEBUG"):
            raise
        why = f"{type(error).__name__}: {error}".replace("\n", " ")
        return _fail(f"a bug in pyvision: {why} (PYVISION_DEBUG=1 shows where)", 1)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pyvision",
        description="Answers questions about images by writing Python and running it in an isolated kernel.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run.add_command(commands)
    doctor.add_command(commands)
    sandbox.add_command(commands)
    return parser


def _fail(message: str, code: int) -> int:
    print(f"pyvision: {message}", file=sys.stderr)  # noqa: T201 - the one place where errors meet a person
    return code
