"""Show a run on standard error while it happens: thought, code, output, figures; plain when not a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pyvision.errors import FormatError
from pyvision.events import (
    CellRun,
    Event,
    ImageDefined,
    ModelCall,
    Note,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    TextDelta,
    ToolRun,
)
from pyvision.text.replies import find_code, thought
from pyvision.text.sanitize import printable
from pyvision.trajectory import picture_file

if TYPE_CHECKING:
    from rich.console import Console

# What is shown of long output and long code: so many lines from the start and the end. The run folder holds all.
_OUTPUT_LINES = (16, 8)
_CODE_LINES = (8, 32)
_NOTE_LINES = (8, 6)
_NOTE_CHARS = 160
_MARKUP = ("<", "```", "~~~")  # a line that starts so is no prose; code is shown when it is whole


class Progress:
    """Prints events as they come, and what is being waited for while nothing comes."""

    def __init__(self, folder: Path, console: Console | None = None) -> None:
        self._folder = folder
        self._console = console or _standard_error()
        self._status = self._console.status("")
        self._turns = 0
        self._text = ""  # of a reply that is on its way
        self._said = 0  # how much of it stands on the screen

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def show(self, event: Event) -> None:
        """Print one event and say what comes next; a run goes on where nobody can listen any more."""
        try:
            self._show(event)
        except (
            OSError,
            SystemExit,
        ):  # a full disk, a closed terminal; rich makes a SystemExit of a broken pipe
            self._console.quiet = True

    def _show(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._began(event)
            case TextDelta():
                self._spoke(event)
            case ReplyRestarted():
                self._restart(event)
            case ModelCall():
                self._ask(event)
            case CellRun():
                self._ran(event)
            case ToolRun():
                self._used(event)
            case ImageDefined(name=name, picture=picture):
                file = self._folder / picture_file(picture)
                self._line(f"{name}  {picture.width} x {picture.height}  {file}", "magenta")
            case Note():
                self._noted(event)
            case RunEnded():
                self._ended(event)

    def _began(self, event: RunStarted) -> None:
        models = ", ".join(sorted(set(event.models.values())))
        self._line(f"{event.strategy} · {models}", "bold")
        for name, picture in event.question.named_images:
            self._line(f"{name}  {picture.width} x {picture.height}", "magenta")
        if "offline" in event.models.values():
            self._line(
                "offline is a rule-based reasoner for simple drawings, not a language model;", "yellow"
            )
            self._line("to ask one: --model openai, --model vllm or --config FILE", "yellow")
        self._wait(f"asking {models}")

    def _spoke(self, event: TextDelta) -> None:
        """On a terminal the prose of a reply is shown line by line as it comes."""
        self._text += event.text
        if not self._console.is_terminal:
            return
        while (end := self._text.find("\n", self._said)) >= 0:
            line = self._text[self._said : end]
            if line.lstrip().startswith(_MARKUP):
                self._wait(f"writing, {len(self._text):,} characters")
                return
            self._say(line)

    def _say(self, line: str) -> None:
        if not self._said:
            self._line(f"\nturn {self._turns + 1}", "bold cyan")
        self._line(line)
        self._said += len(line) + 1

    def _restart(self, event: ReplyRestarted) -> None:
        if self._text:
            self._line("the endpoint broke off; asking again", "yellow")
        self._text, self._said = "", 0
        if event.notice:
            self._line(event.notice, "yellow")
            self._wait(event.notice)

    def _ask(self, event: ModelCall) -> None:
        self._turns += 1
        said, on_screen = thought(event.reply.text), self._text[: self._said].strip()
        if on_screen and said.startswith(on_screen):
            self._prose(said[len(on_screen) :].strip("\n"))
            self._line(f"{event.seconds:.1f} s", "dim")
        else:
            self._line(f"\nturn {self._turns} · {event.seconds:.1f} s", "bold cyan")
            self._prose(said)
        self._text, self._said = "", 0
        if code := _code(event.reply.text):
            self._code(code)
            self._wait("running the cell")

    def _prose(self, text: str) -> None:
        if text:
            self._line(text)

    def _ran(self, event: CellRun) -> None:
        result = event.result
        for line in _shorten(result.text.rstrip(), _OUTPUT_LINES):
            self._line(f"│ {line}", "green")
        if result.error:
            self._line(f"│ {result.error.traceback or result.error.message}".replace("\n", "\n│ "), "red")
        state = ", the kernel was started anew" if result.state == "lost" else ""
        self._line(f"{result.status} · {result.seconds:.1f} s{state}", "dim")
        self._wait("asking the model")

    def _used(self, event: ToolRun) -> None:
        seen = event.observation
        found = " ".join((seen.error or seen.text).split()) or "nothing"
        self._line(f"{event.tool}: {_short(found, _NOTE_CHARS)}", "red" if seen.error else "magenta")

    def _noted(self, event: Note) -> None:
        """Short values in one line; a text of several lines below it; what is long otherwise is for the report."""
        texts = {key: value for key, value in event.data.items() if isinstance(value, str) and "\n" in value}
        plain = [f"{key} {_plain(value)}" for key, value in event.data.items() if key not in texts]
        self._line(f"{event.label}: {', '.join(plain)}" if plain else event.label, "yellow")
        for key, text in texts.items():
            self._line(f"  {key}", "yellow")
            for line in _shorten(text.rstrip(), _NOTE_LINES):
                self._line(f"    {line}")

    def _ended(self, event: RunEnded) -> None:
        self._status.stop()
        counts = f"{event.turns} turns, {event.cells} cells, {event.seconds:.1f} s{_spent(event)}"
        self._line(f"\n{event.outcome.end_reason} · {counts} · {self._folder}", "bold")
        if event.outcome.is_last_resort:
            self._line(
                "the last reply gave no answer in any usual form; the answer is all that it says", "yellow"
            )
        if event.outcome.error and event.outcome.end_reason != "error":  # `main` says that one
            self._line(event.outcome.error, "red" if event.outcome.answer is None else "yellow")

    def _code(self, code: str) -> None:
        lines = _shorten(code, _CODE_LINES)
        if not self._console.is_terminal:
            self._line("\n".join(f"    {line}" for line in lines))
            return
        from rich.syntax import Syntax

        self._console.print(Syntax("\n".join(lines), "python", word_wrap=True, background_color="default"))

    def _line(self, text: str, style: str = "") -> None:
        """Text as text: no markup, no terminal escapes, whoever wrote it."""
        from rich.text import Text

        self._console.print(Text(printable(text), style=style), soft_wrap=True)

    def _wait(self, what: str) -> None:
        self._status.update(f"{what} …")


def _standard_error() -> Console:
    from rich.console import Console as RichConsole

    class StandardError(RichConsole):
        def on_broken_pipe(self) -> None:
            """Be silent from now on; rich would close standard output, where the answer goes, and exit."""
            self.quiet = True

    return StandardError(stderr=True, highlight=False)


def _spent(event: RunEnded) -> str:
    """Tokens, the share of the input that came out of the endpoint's cache, and money, where they are known."""
    usage = event.usage
    tokens = f" · {usage.total:,} tokens" if usage.total else ""
    share = usage.cached_tokens / usage.input_tokens if usage.input_tokens else 0.0
    cached = f", {share:.0%} of the input cached" if usage.cached_tokens else ""
    return tokens + cached + (f" · cost {event.cost:.4g}" if event.cost is not None else "")


def _plain(value: object) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _short(told, _NOTE_CHARS)


def _short(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def _shorten(text: str, head_and_tail: tuple[int, int]) -> list[str]:
    head, tail = head_and_tail
    lines = printable(text).splitlines()
    left_out = len(lines) - head - tail
    return lines if left_out <= 1 else [*lines[:head], f"# … {left_out} lines more …", *lines[-tail:]]


def _code(reply: str) -> str | None:
    """The cell of a reply, if it has one; a malformed reply is noted by the strategy."""
    try:
        return find_code(reply)
    except FormatError:
        return None
