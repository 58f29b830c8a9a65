"""Show a run on standard error as it happens: thoughts, code, output, figures; plain text outside a terminal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pyvision.errors import FormatError, ImageError
from pyvision.events import (
    CellOutput,
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
from pyvision.text.native_tool_calls import render_reply
from pyvision.text.replies import find_code, find_thought
from pyvision.text.sanitize import printable
from pyvision.trajectory import picture_file

if TYPE_CHECKING:
    from rich.console import Console
    from rich.syntax import SyntaxTheme
    from rich.text import Text

    from pyvision.cli.terminal_images import Drawing
    from pyvision.types import Outcome, Picture

OFFLINE_HINT = "pyvision models lists the others; choose one with --model NAME"
_SPINNER_CELLS = 3
# Long output and code are shortened to this many lines of the start and the end. The run folder holds everything.
_OUTPUT_LINES = (16, 8)
_CODE_LINES = (8, 32)
_NOTE_LINES = (8, 6)
_NOTE_CHARS = 160
_MARKUP = ("<", "```", "~~~")  # a line that starts with one is not prose; code is printed when it is complete


class Progress:
    """Prints events as they arrive, and what the run is waiting for.

    Everything that a model, a cell or a tool wrote passes through `printable` once before it is printed as plain text.
    """

    def __init__(self, folder: Path, console: Console | None = None, offline_hint: str = "") -> None:
        """offline_hint: which models can be used in place of `offline`."""
        self.outcome: Outcome | None = None  # once the run has ended
        self._folder = folder
        self._offline_hint = offline_hint or OFFLINE_HINT
        self._console = console or _standard_error()
        self._status = self._console.status("")
        self._turns = 0
        self._text = ""  # of the reply that is being streamed
        self._prose = ""  # of the last reply
        self._drawing = _find_drawing() if self._console.is_terminal else None
        self._printed = 0  # how many of its characters are on the screen
        self._output = ""  # of the cell that is running
        self._output_lines: list[str] = []  # of it, on the screen

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def show(self, event: Event) -> None:
        """Print one event and what the run waits for next; the run continues when nothing can be printed any more."""
        try:
            self._print_event(event)
        except (
            OSError,
            SystemExit,
        ):  # a full disk, a closed terminal; rich turns a broken pipe into SystemExit
            self._console.quiet = True

    def _print_event(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._print_start(event)
            case TextDelta(for_tool=False):
                self._stream(event)
            case ModelCall(for_tool=True):
                self._print(printable(f"model call by a tool: {event.role} · {event.seconds:.1f} s"), "dim")
            case ReplyRestarted():
                self._print_restart(event)
            case ModelCall():
                self._print_reply(event)
            case CellOutput():
                self._stream_output(event)
            case CellRun():
                self._print_result(event)
            case ToolRun():
                self._print_observation(event)
            case ImageDefined(name=name, picture=image):
                file = self._folder / picture_file(image)
                self._print(printable(f"{name}  {image.width} x {image.height}  {file}"), "magenta")
                self._draw(image)
            case Note():
                self._print_note(event)
            case RunEnded():
                self._print_end(event)

    def _print_start(self, event: RunStarted) -> None:
        models = printable(", ".join(sorted(set(event.models.values()))))
        self._print(f"{event.strategy} · {models}", "bold")
        for name, image in event.question.named_images:
            self._print(f"{name}  {image.width} x {image.height}", "magenta")
        if "offline" in event.models.values():
            self._print(
                f"offline is a rule-based model for simple drawings, not a language model;\n{self._offline_hint}",
                "yellow",
            )
        self._wait(f"asking {models}")

    def _stream(self, event: TextDelta) -> None:
        """On a terminal, the prose of a reply is printed line by line as it arrives."""
        self._text += event.text
        if not self._console.is_terminal:
            return
        while (end := self._text.find("\n", self._printed)) >= 0:
            line = self._text[self._printed : end]
            if line.lstrip().startswith(_MARKUP):
                self._wait(f"writing, {len(self._text):,} characters")
                return
            if not self._printed:
                self._print(f"\nturn {self._turns + 1}", "bold cyan")
            self._print(printable(line))
            self._printed = end + 1

    def _print_restart(self, event: ReplyRestarted) -> None:
        if self._text:
            self._print("the connection to the endpoint was interrupted; asking again", "yellow")
        self._text, self._printed = "", 0
        if event.notice:
            self._print(printable(event.notice), "yellow")
            self._status.update(RetryCountdown(printable(event.why), event.wait_s, self._console.width))

    def _print_reply(self, event: ModelCall) -> None:
        self._turns += 1
        self._prose = prose = find_thought(event.reply.text)
        on_screen = self._text[: self._printed].strip()
        if on_screen and prose.startswith(on_screen):
            prose = prose[len(on_screen) :].strip("\n")
            lines = [(prose, ""), (f"{event.seconds:.1f} s", "dim")]
        else:
            lines = [(f"\nturn {self._turns} · {event.seconds:.1f} s", "bold cyan"), (prose, "")]
        self._text, self._printed = "", 0
        for line, style in lines:
            if line:
                self._print(line if style else printable(line), style)
        if code := _find_code(render_reply(event.reply)):
            self._print_code(code)
            self._wait("running the cell")

    def _stream_output(self, event: CellOutput) -> None:
        """On a terminal, the first lines of a cell's output are printed as they arrive, then only the last one."""
        if not self._console.is_terminal:
            return
        *lines, rest = (self._output + event.text).split("\n")
        for line in lines[: max(0, _OUTPUT_LINES[0] - len(self._output_lines))]:
            self._output_lines.append(printable(line))
            self._print(f"│ {self._output_lines[-1]}", "green")
        self._output = rest[-_NOTE_CHARS:]
        last = printable(rest or (lines[-1] if lines else "")).strip()
        self._wait(f"running the cell: {_shorten(last)}" if last else "running the cell")

    def _print_result(self, event: CellRun) -> None:
        result = event.result
        output, on_screen = _shorten_lines(result.text.rstrip(), _OUTPUT_LINES), self._output_lines
        if output[: len(on_screen)] == on_screen:
            output = output[len(on_screen) :]
        self._output, self._output_lines = "", []
        if output:
            self._print("\n".join(f"│ {line}" for line in output), "green")
        if result.error:
            error = printable(result.error.traceback or result.error.message)
            self._print(f"│ {error}".replace("\n", "\n│ "), "red")
        state = ", the kernel was restarted" if result.state == "lost" else ""
        self._print(f"{result.status} · {result.seconds:.1f} s{state}", "dim")
        self._wait("asking the model")

    def _print_observation(self, event: ToolRun) -> None:
        observation = event.observation
        text = " ".join((observation.error or observation.text).split()) or "nothing"
        style = "red" if observation.error else "magenta"
        again = " (as before)" if event.is_cached else ""
        self._print(printable(f"{event.tool}{again}: {_shorten(text)}"), style)

    def _print_note(self, event: Note) -> None:
        """Short values on one line; text of several lines below it; other long values are cut."""
        texts = {key: value for key, value in event.data.items() if isinstance(value, str) and "\n" in value}
        values = [f"{key} {_format_value(value)}" for key, value in event.data.items() if key not in texts]
        self._print(printable(f"{event.label}: {', '.join(values)}" if values else event.label), "yellow")
        for key, text in texts.items():
            self._print(printable(f"  {key}"), "yellow")
            self._print("\n".join(f"    {line}" for line in _shorten_lines(text.rstrip(), _NOTE_LINES)))

    def _print_end(self, event: RunEnded) -> None:
        self._status.stop()
        self.outcome = event.outcome
        counts = f"{_count(event.turns, 'turn')}, {_count(event.cells, 'cell')}"
        counts += f", {event.seconds:.1f} s{_format_usage(event)}"
        if event.outcome.end_reason == "interrupted":
            why = event.outcome.error or "stopped"
            self._print(printable(f"\n{why}; kept: {counts} · {self._folder}"), "bold")
            return
        self._print(printable(f"\n{event.outcome.end_reason} · {counts} · {self._folder}"), "bold")
        if event.outcome.is_last_resort:
            self._print(
                "the last reply had no answer in a known format; its whole text is the answer", "yellow"
            )
        error = event.outcome.error
        # `main` prints the line of a bug; what a model declined with stands above.
        if error and event.outcome.end_reason != "error" and error.strip() != self._prose.strip():
            self._print(printable(error), "red" if event.outcome.answer is None else "yellow")

    def _print_code(self, code: str) -> None:
        lines = _shorten_lines(code, _CODE_LINES)
        if not self._console.is_terminal:
            self._print("\n".join(f"    {line}" for line in lines))
            return
        from rich.syntax import Syntax

        code = "\n".join(lines)
        self._console.print(
            Syntax(code, "python", theme=_theme(), word_wrap=True, background_color="default")
        )

    def _draw(self, image: Picture) -> None:
        """Draw an image, if the terminal can; the spinner stands still meanwhile."""
        if self._drawing is None:
            return
        self._status.stop()
        with suppress(ImageError):  # the path of the file is shown in any case
            from pyvision.cli.terminal_images import draw

            self._console.file.write(draw(image, self._drawing))
        self._status.start()

    def _print(self, text: str, style: str = "") -> None:
        """Print text that is already `printable`, without interpreting markup."""
        from rich.text import Text as RichText

        self._console.print(RichText(text, style=style), soft_wrap=True)

    def _wait(self, what: str) -> None:
        from rich.cells import set_cell_size

        line = f"{what} …"
        room = max(1, self._console.width - _SPINNER_CELLS)
        self._status.update(line if len(line) <= room else set_cell_size(line, room - 1) + "…")


class RetryCountdown:
    """Counts down to the next attempt while it is on the screen. why: the error before it."""

    def __init__(
        self, why: str, delay_s: float, width: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._why = why
        self._until = now() + delay_s
        self._room = max(1, width - _SPINNER_CELLS)
        self._now = now

    def __rich__(self) -> Text:
        from rich.text import Text as RichText

        left = max(0, ceil(self._until - self._now()))
        what = f"next attempt in {left} s" if left else "asking again"
        text = RichText(f"{what}: {self._why}", no_wrap=True)
        text.truncate(self._room, overflow="ellipsis")
        return text


def _theme() -> SyntaxTheme:
    """Colours of the terminal's own palette that can be read on light and on dark; most code keeps the plain one."""
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme

    tokens = _token()
    return ANSISyntaxTheme(
        {
            tokens: Style(),
            tokens.Comment: Style(dim=True),
            tokens.Keyword: Style(color="magenta"),
            tokens.Operator.Word: Style(color="magenta"),
            tokens.Literal.String: Style(color="green"),
            tokens.Literal.Number: Style(color="cyan"),
            tokens.Name.Function: Style(bold=True),
            tokens.Name.Class: Style(bold=True),
        }
    )


def _token() -> Any:
    """The root of the kinds of tokens; Pygments comes with rich, and is not typed."""
    return import_module("pygments.token").Token


def _find_drawing() -> Drawing | None:
    from pyvision.cli.terminal_images import find_drawing

    return find_drawing()


def _standard_error() -> Console:
    from rich.console import Console as RichConsole

    class StandardError(RichConsole):
        def on_broken_pipe(self) -> None:
            """Print nothing more; rich would close standard output, which gets the answer, and exit."""
            self.quiet = True

    return StandardError(stderr=True, highlight=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _format_usage(event: RunEnded) -> str:
    """Tokens, the cached share of the input, and the cost, as far as they are known."""
    usage = event.usage
    tokens = f" · {usage.total:,} tokens" if usage.total else ""
    share = usage.cached_tokens / usage.input_tokens if usage.input_tokens else 0.0
    cached = f", {share:.0%} of the input cached" if usage.cached_tokens else ""
    return tokens + cached + (f" · cost {event.cost:.4g}" if event.cost is not None else "")


def _format_value(value: object) -> str:
    return _shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _shorten(text: str) -> str:
    return text if len(text) <= _NOTE_CHARS else f"{text[: _NOTE_CHARS - 1]}…"


def _shorten_lines(text: str, head_and_tail: tuple[int, int]) -> list[str]:
    """The first and last lines of a text, made printable."""
    head, tail = head_and_tail
    lines = printable(text).splitlines()
    omitted = len(lines) - head - tail
    return lines if omitted <= 1 else [*lines[:head], f"# … {omitted} more lines …", *lines[-tail:]]


def _find_code(reply: str) -> str | None:
    """The cell of a reply, if there is one; the strategy reports malformed replies."""
    try:
        return find_code(reply)
    except FormatError:
        return None
