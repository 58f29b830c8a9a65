"""`pyvision chat`: questions in the terminal, one after the other, with one kernel and one history."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from pyvision.cli.commands.run import new_folder
from pyvision.cli.exit_codes import exit_code
from pyvision.cli.flags import (
    add_limits,
    add_model,
    add_repeated,
    add_strategy,
    find_offline_hint,
    settings_of,
    use_settings,
)
from pyvision.cli.inputs import find_images
from pyvision.errors import ConfigError, ModelError, PyVisionError
from pyvision.text.sanitize import printable

if TYPE_CHECKING:
    from pyvision.cli.terminal import Lines
    from pyvision.conversation import Conversation
    from pyvision.events import Event
    from pyvision.types import Picture

_HELP = """\
/image IMAGE …   add images (files, URLs, folders) to the next question
/undo            forget the last question; variables of the kernel keep their values
/code [N]        edit the last cell, or cell N, run it in place of the old one, and continue from there
/report          write the last question as an HTML file
/help            this list
/quit            end, as Ctrl-D does
Ctrl-C stops a question and keeps the variables. Alt-Enter, or a line that ends in \\, starts a new line."""


def add_chat(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "chat",
        description="Ask about images in the terminal, one question after the other, in one kernel. /help lists what "
        "can be typed besides questions. Each question leaves a run folder.",
    )
    add = parser.add_argument
    add("words", nargs="*", metavar="IMAGE", help="images for the first question, as in `pyvision run`")
    add(
        "-c",
        "--continue",
        dest="resume",
        action="store_true",
        help="continue the newest run in runs/; its cells run again in a new kernel",
    )
    add_strategy(parser)
    add_model(parser)
    for flag in ("--role", "--tool", "--set"):
        add_repeated(parser, flag)
    add_limits(parser)
    add("--out", type=Path, metavar="DIR", help="the folder of this chat (default: a new folder in runs/)")
    use_settings(parser)
    parser.set_defaults(call=chat)


def chat(options: argparse.Namespace) -> int:
    """Ask until the input ends; returns the exit code."""
    from pyvision.cli.terminal import open_lines
    from pyvision.conversation import Conversation
    from pyvision.solve import configure
    from sandbox import Sandbox

    _end_on_signals()
    folder = options.out or new_folder("chat-")
    earlier = _runs_to_resume() if options.resume else []
    with configure(**settings_of(options)) as task, Sandbox(task.policy) as sandbox, open_lines() as lines:
        conversation = Conversation(task, sandbox, folder)
        for run in earlier:
            _restore(conversation, run)
        try:
            hint = find_offline_hint(options.model, options.config)
            return _Chat(conversation, folder, lines, _read_pictures(options.words), hint).run()
        finally:
            conversation.close()


class _Chat:
    """What is typed, until its end: a question, or a command that starts with a slash."""

    def __init__(
        self,
        conversation: Conversation,
        folder: Path,
        lines: Lines,
        pictures: tuple[Picture, ...],
        offline_hint: str,
    ) -> None:
        self._offline_hint = offline_hint
        self._conversation = conversation
        self._folder = folder
        self._lines = lines
        self._pictures = pictures  # for the next question
        self._code = 0  # of the last line
        self._commands: Mapping[str, Callable[[list[str]], None]] = {
            "/image": self._add_images,
            "/undo": self._undo,
            "/code": self._edit_code,
            "/report": self._report,
            "/help": lambda words: _say(_HELP),
        }

    def run(self) -> int:
        """Until the input ends; returns the exit code: that of the last line, if lines come from a pipe."""
        if self._lines.is_terminal:
            _say("Ask a question about your images; /help lists the commands.")
        for text in self._texts():
            self._code = 0
            try:
                self._take(text)
            except PyVisionError as error:
                self._code = 4 if isinstance(error, ModelError) else 2
                _say(f"pyvision: {error}")
            except KeyboardInterrupt:
                _say("stopped; the kernel keeps its variables")
        return 0 if self._lines.is_terminal else self._code

    def _texts(self) -> Iterator[str]:
        while (text := self._lines.read("› ")) is not None:
            if text.strip() in ("/quit", "/exit"):
                return
            if text.strip():
                yield text.strip()

    def _take(self, text: str) -> None:
        name, *_ = text.split(maxsplit=1)
        if not name.startswith("/") or Path(name).exists():
            pictures, self._pictures = self._pictures, ()
            self._show(self._conversation.ask(text, pictures))
            return
        if name not in self._commands:
            raise ConfigError(f"unknown command {printable(name)}; /help lists the commands")
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise ConfigError(f"{name}: {error}; close the quotation") from None
        self._commands[name](words[1:])

    def _show(self, events: Iterator[Event]) -> None:
        from pyvision.cli.progress import Progress
        from pyvision.events import RunEnded

        folder = self._folder / str(len(self._conversation.runs))
        answer: str | None = None
        try:
            with Progress(folder, offline_hint=self._offline_hint) as progress:
                for event in events:
                    progress.show(event)
                    if isinstance(event, RunEnded):
                        answer = event.outcome.answer
                        self._code = exit_code(event.outcome.end_reason)
        finally:
            events.close()  # type: ignore[attr-defined]  # a generator
        if answer is not None:
            print(printable(answer), flush=True)  # noqa: T201 - what the command is for

    def _add_images(self, words: list[str]) -> None:
        if not words:
            raise ConfigError("/image needs an image, as in /image photo.jpg")
        added = _read_pictures(words)
        self._pictures += added
        _say(f"{_images(len(added))} added to the next question")

    def _undo(self, _: list[str]) -> None:
        if not self._conversation.questions:
            raise ConfigError("there is no question to forget; ask one first")
        self._conversation.rewind(self._conversation.questions - 1)
        _say("the last question is forgotten; variables keep their values")

    def _edit_code(self, words: list[str]) -> None:
        cells = self._conversation.cells
        number = int(words[0]) if words and words[0].isdecimal() else len(cells)
        if not 1 <= number <= len(cells):
            raise ConfigError(f"there is no cell {' '.join(words) or 'yet'}; this chat has {len(cells)}")
        code = self._lines.edit(cells[number - 1])
        if code is None:
            _say("nothing was run")
            return
        self._show(self._conversation.go_on(code, number - 1))

    def _report(self, _: list[str]) -> None:
        from pyvision.cli.commands.report import write_report

        runs = self._conversation.runs
        if not runs:
            raise ConfigError("nothing to report yet; ask a question first")
        path = runs[-1] / "report.html"
        write_report(runs[-1], path)
        _say(str(path))


def _runs_to_resume() -> list[Path]:
    """The newest run, or all questions up to it if it belongs to a chat. Raises ConfigError."""
    from pyvision.runs.listing import RUNS, find_run

    last = find_run(None)
    if last.parent == RUNS or not last.name.isdecimal():
        return [last]
    return [last.parent / str(number) for number in range(int(last.name) + 1)]


def _restore(conversation: Conversation, run: Path) -> None:
    from pyvision.events import RunStarted
    from pyvision.trajectory import read_trajectory

    events = read_trajectory(run).events
    conversation.restore(events)
    asked = [event.question.text for event in events if isinstance(event, RunStarted)]
    _say(printable(f"continued from {run}: {' '.join(asked)}"))


def _read_pictures(words: list[str]) -> tuple[Picture, ...]:
    from pyvision.solve import read_images

    return tuple(picture for picture, _ in read_images(list(find_images(words))))


def _images(number: int) -> str:
    return f"{number} image{'' if number == 1 else 's'}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - everything but answers


def _end_on_signals() -> None:
    """Ctrl-C stops a question; these two end the chat, kernel and record closed."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)
