"""Read the command line, call the command, turn what went wrong into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import select
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from pyvision.cli.interrupts import Interrupts
from pyvision.errors import ModelError, PyVisionError

EXIT_CODES = """\
exit codes:
  0  answered              3  no answer: a limit was reached, or nothing to say
  1  a bug                 4  the model endpoint failed
  2  wrong usage           5  no isolation available         130  interrupted
                                                       141  nobody reads the output"""


_BROKEN_PIPE = 141  # 128 and the number of SIGPIPE: what a shell reports of a program that SIGPIPE ended
_COMMANDS = {  # name, which is also that of its module in pyvision.cli -> what it does
    "run": "answer one question about one or several images",
    "demo": "ask in a browser, and watch it think",
    "bench": "answer a dataset's questions, grade them, export the results",
    "report": "write a recorded run as one HTML file",
    "replay": "run the cells of a recorded run again, or go on from one of its turns",
    "export": "write a recorded run as a notebook or as training data",
    "bdog": "look at debates on graphs: their statistics, their graphs",
    "avis": "record how people seek answers, and learn from it",
    "vdebugger": "train and measure the critic and the refiner of programs",
    "index": "make your own pictures and texts searchable for the tools",
    "doctor": "find out what a model endpoint accepts and sees, and whether this machine can run cells",
    "sandbox": "look at the isolation of this machine",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of argparse's usage dump."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the installed version; looked up only here, as it takes a while."""
        from importlib.metadata import version

        print(f"pyvision {version('pyvision')}")  # noqa: T201 - on standard output, as others do
        parser.exit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; 141, as for other tools, when nobody reads what it prints."""
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _is_unread():
            raise
        _let_go_of_output()
        return _BROKEN_PIPE


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser(given).parse_args(given)
    interrupts = Interrupts()
    try:
        return int(options.call(options))
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except ModelError as error:
        return _fail(str(error), 4)
    except PyVisionError as error:
        return _fail(str(error), 2)
    except SystemExit:
        raise
    except BaseException as error:  # the boundary: a person gets one line, never a traceback
        if interrupts.seen:  # in the middle of an import, C code makes another error of it, and Rust a panic
            return _fail("interrupted", 130)
        if isinstance(error, BrokenPipeError) and _is_unread():  # another pipe that broke is a bug
            return _BROKEN_PIPE
        if os.environ.get("PYVISION_DEBUG"):
            raise
        why = f"{type(error).__name__}: {error}".replace("\n", " ")
        return _fail(f"a bug in pyvision: {why} (PYVISION_DEBUG=1 shows where)", 1)


def _is_unread() -> bool:
    """Whether standard output is a pipe whose reader is gone, as `head -1` is after its line."""
    try:
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in output.poll(0))
    except (OSError, ValueError):  # closed, or no file at all
        return False


def _let_go_of_output() -> None:
    """What is left in the buffer goes nowhere, in place of a second error when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The flags of the command that is asked for; the others, which take time to declare, are only named."""
    parser = _Parser(
        prog="pyvision",
        description="Answers questions about images by writing Python and running it in an isolated kernel.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, purpose in _COMMANDS.items():
        if list(arguments[:1]) == [name]:
            import_module(f"pyvision.cli.{name}").add_command(commands)
        else:
            commands.add_parser(name, help=purpose, add_help=False)
    return parser


def _fail(message: str, code: int) -> int:
    print(f"pyvision: {message}", file=sys.stderr)  # noqa: T201 - the one place where errors meet a person
    return code
