"""Parse the command line, run the command, and turn every failure into one line and an exit code.

Standard output fails too: closed, a pipe without a reader, a full disk, an encoding that lacks characters.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from pyvision.cli.exit_codes import BROKEN_PIPE, BUG, ENDPOINT, HELP, INTERRUPTED, NO_ISOLATION, USAGE, fail
from pyvision.errors import ModelError, PyVisionError, reason, suggest

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_COMMANDS = {  # name -> module in pyvision.cli that defines add_NAME, what the command does
    "run": ("commands.run", "answer one question about one or more images"),
    "chat": ("commands.chat", "ask about images in the terminal, one question after the other"),
    "demo": ("commands.demo", "open a chat in the browser"),
    "bench": ("bench.commands", "run benchmarks, grade and compare the results"),
    "logs": ("commands.logs", "list, show, search and open recorded runs"),
    "report": ("commands.report", "write a recorded run as an HTML file"),
    "replay": (
        "commands.replay",
        "run the cells of a recorded run again, or continue it from one of its turns",
    ),
    "verify": ("commands.verify", "ask a recorded question again with its evidence masked"),
    "export": ("commands.export", "write a recorded run as a notebook or as training data"),
    "bdog": ("experiments.bdog", "analyse and draw recorded graph debates"),
    "avis": ("experiments.avis", "record how people find answers, and learn a strategy from it"),
    "vdebugger": ("experiments.vdebugger", "train and evaluate the critic and the refiner of programs"),
    "index": ("commands.index", "make your own images and texts searchable for the tools"),
    "models": (
        "commands.models",
        "list the providers, what each needs, and the models that an endpoint offers",
    ),
    "doctor": (
        "commands.doctor",
        "check what a model endpoint supports, and whether this machine can run cells",
    ),
    "keys": ("commands.keys", "store the keys of model endpoints"),
    "config": ("commands.config", "show which settings are in force, and where they come from"),
    "completions": ("commands.completions", "print the completion script for a shell"),
    "sandbox": ("commands.doctor", "check the sandbox isolation on this machine"),
}


class _Parser(argparse.ArgumentParser):
    """Errors are one line with the nearest match. A parser with the default `words` takes positional words anywhere."""

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._given = list(sys.argv[1:] if args is None else args)
        options, rest = super().parse_known_args(args, namespace)
        if isinstance(words := getattr(options, "words", None), list):
            words += [word for word in rest if word == "-" or not word.startswith("-")]
            rest = [word for word in rest if word != "-" and word.startswith("-")]
        if rest:
            self._refuse_flag(rest[0])
        return options, rest

    def _refuse_flag(self, flag: str) -> NoReturn:
        known = [flag for action in self._actions for flag in action.option_strings]
        near = _nearest(flag.partition("=")[0], known)
        is_file = os.path.exists(flag)  # noqa: PTH110 - Path.exists raises for a name that is too long
        hint = f"; give the file as ./{flag}" if is_file else near
        self.error(f"unknown argument {flag!r}{hint}")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if isinstance(action, argparse._SubParsersAction) and str(value) not in action.choices:
            for word in self._given[: self._given.index(str(value))]:  # `--cuont 1`: 1 is no command
                if word.startswith("-") and word.partition("=")[0] not in self._option_string_actions:
                    self._refuse_flag(word)
            self.error(f"unknown command {value!r}{_nearest(str(value), list(action.choices))}")
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            hint = suggest(str(value), known, "choose one of")
            raise argparse.ArgumentError(action, f"unknown value {str(value)!r}; {hint}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """One line instead of argparse's usage dump."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _nearest(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, known, 1, 0.6)
    return f"; did you mean {found[0]}?" if found else ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the installed version, whose lookup is slow."""
        import pyvision

        print(f"pyvision {pyvision.__version__}")  # noqa: T201 - on standard output, as others do
        parser.exit(0)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command; a question without a command is one for `run`. Exits for an error or --help."""
    words = list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if not words:
        _parser(words).error("no question or command is given; ask with pyvision 'QUESTION' photo.jpg")
    if _is_question(words):
        words.insert(0, "run")
    return _parser(words).parse_args(words)


def _is_question(words: Sequence[str]) -> bool:
    """Whether these are the words of `run`: flags, or a question (which is no single plain word), or an image."""
    if not words or words[0] in _COMMANDS or words[0] in ("-h", "--help", "--version"):
        return False
    from pyvision.cli.inputs import is_image

    if not words[0].replace("-", "").replace("_", "").isalpha():  # a sentence, a file, or a flag with a value
        return True
    is_flag = words[0].startswith("-")
    others = [word for word in words[1:] if not word.startswith("-") or word == "-"]
    if _nearest(words[0], list(_COMMANDS)) and any(" " in word for word in others):
        return False  # `rnu "How many?" photo.jpg`
    return is_flag or is_image(words[0]) or any(is_image(word) for word in others)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 141, as other tools do, when standard output is a broken pipe."""
    _open_closed_streams()
    _escape_missing_characters()
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except OSError as error:
        if _is_full(error):
            discard_output()
            return fail(f"cannot write ({reason(error)}); free some space, or write elsewhere", USAGE)
        if not (isinstance(error, BrokenPipeError) and _is_unread()):
            raise
        discard_output()
        return BROKEN_PIPE


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if sys.platform == "win32":
        return fail("Windows is supported only through WSL2; install and run PyVision there", NO_ISOLATION)
    interrupts = _Interrupts()
    try:
        options = parse(given)
        return int(options.call(options))
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED)
    except ModelError as error:
        return fail(str(error), ENDPOINT)
    except PyVisionError as error:
        return fail(str(error), USAGE)
    except SystemExit:
        raise
    except BaseException as error:  # the boundary: users get one line, never a traceback
        if interrupts.seen:  # C code may turn it into another error during an import, and Rust into a panic
            return fail("interrupted", INTERRUPTED)
        from sandbox import SandboxError  # not before: --help needs no sandbox

        if isinstance(error, SandboxError):
            return fail(str(error), NO_ISOLATION)
        if isinstance(error, BrokenPipeError) and _is_unread():  # any other broken pipe is a bug
            return BROKEN_PIPE
        if _is_full(error) or os.environ.get("PYVISION_DEBUG"):
            raise
        why = f"{type(error).__name__}: {error}".replace("\n", " ")
        return fail(f"a bug in pyvision: {why} (set PYVISION_DEBUG=1 for a traceback)", BUG)


def discard_output() -> None:
    """Send the rest of the buffer to /dev/null, to prevent a second error when the interpreter exits."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
    sys.stdout.flush()


def whole_parser() -> argparse.ArgumentParser:
    """The parser with the flags of every command."""
    return _parser([], is_whole=True)


def _parser(arguments: Sequence[str], *, is_whole: bool = False) -> argparse.ArgumentParser:
    """Declares the flags of the given command only; the others are just named, which keeps the start fast."""
    parser = _Parser(
        prog="pyvision",
        description="Answer questions about images by writing Python code and running it in an isolated kernel.",
        usage="pyvision [options] QUESTION IMAGE [IMAGE …]\n       pyvision COMMAND …",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="pyvision")
    for name, (module, purpose) in _COMMANDS.items():
        if is_whole or list(arguments[:1]) == [name]:
            getattr(import_module(f"pyvision.cli.{module}"), f"add_{name}")(commands)
        else:
            commands.add_parser(name, help=purpose, add_help=False)
    return parser


def _open_closed_streams() -> None:
    """Open /dev/null as each closed standard stream: the next file would get its number, and what is printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
            os.set_inheritable(null, True)  # for processes that are started
            setattr(sys, name, open(null, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - as long as the process


def _escape_missing_characters() -> None:
    """Print characters that the encoding of standard output lacks as escapes, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_unread() -> bool:
    """Whether standard output is a pipe whose reader has exited, as `head -1` does after one line."""
    try:
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in output.poll(0))
    except (OSError, ValueError):  # closed, or not a file
        return False


def _is_full(error: BaseException) -> bool:
    """Whether there was no space for what was written."""
    return isinstance(error, OSError) and error.errno in _FULL


class _Interrupts:
    """Lets SIGTERM and SIGHUP end a command as Ctrl-C does: kernels closed, trajectory complete.

    Records whether one was seen. Python swallows exceptions raised in callbacks, such as those of the garbage collector
    and of the importer; an interrupt that was lost this way is sent again.
    """

    def __init__(self) -> None:
        self.seen = False
        self._main_thread = threading.get_ident()  # signal.signal works in no other thread
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._send_again
        signal.signal(signal.SIGTERM, self._interrupt)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # unless nohup ignores it
            signal.signal(signal.SIGHUP, self._interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless a shell ignores it
            signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        self.seen = True
        raise KeyboardInterrupt

    def _send_again(self, swallowed: sys.UnraisableHookArgs) -> None:
        if not issubclass(swallowed.exc_type, KeyboardInterrupt):
            self._unraisable(swallowed)
            return
        threading.Thread(target=self._wake_main_thread, daemon=True).start()

    def _wake_main_thread(self) -> None:
        """A signal to another thread would end no read of the main one; an exception in the hook would be lost too."""
        while self._is_in_hook():
            time.sleep(0.01)
        signal.pthread_kill(self._main_thread, signal.SIGTERM)

    def _is_in_hook(self) -> bool:
        frame = sys._current_frames().get(self._main_thread)
        while frame is not None and frame.f_code is not _Interrupts._send_again.__code__:
            frame = frame.f_back
        return frame is not None
