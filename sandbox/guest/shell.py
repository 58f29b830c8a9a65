"""The IPython shell of cells: our own image backend, short tracebacks, and no exit before the container ends."""

from __future__ import annotations

import asyncio
import linecache
import os
import subprocess
import traceback
from types import TracebackType
from typing import Any

from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.history import HistoryManager
from traitlets import Type

from . import figures, frames
from .interrupts import Interrupts
from .libraries import Libraries
from .tracing.trace import Tracer

_FRAMES = 8  # an endless recursion has thousands of equal frames
_LINE_CHARS = 300
MESSAGE_CHARS = 20_000

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"


class CellCompiler(CachingCompiler):
    """Names a cell by its number, so that a traceback can distinguish it from libraries and other cells."""

    current = 0

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        self.current = number
        return cell_name(number)


class _SessionHistory(HistoryManager):
    """Returns the current session in a range by its number, where IPython returns 0."""

    def get_range(self, *arguments: Any, **options: Any) -> Any:
        for session, line, cell in super().get_range(*arguments, **options):
            yield session or self.session_number, line, cell


class CellPublisher(ZMQDisplayPublisher):
    """Sends the images of `display` as PNG files."""

    shell: Any

    def publish(self, data: Any, *arguments: Any, **options: Any) -> None:
        super().publish(self.shell.convert_display_data(data), *arguments, **options)


class CellDisplayHook(ZMQShellDisplayHook):
    """Sends the image that a cell ends with as a PNG file."""

    shell: Any

    def __call__(self, result: Any = None) -> None:
        if not frames.was_just_shown(result):
            super().__call__(result)

    def compute_format_data(self, result: Any) -> Any:
        return ({}, {}) if self.shell.is_noise(result) else super().compute_format_data(result)

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        super().write_format_data(self.shell.convert_display_data(format_dict), md_dict)


class CellShell(ZMQInteractiveShell):
    """Exits only with the container, always uses our image backend, and keeps tracebacks short."""

    compile: Any
    displayhook_class = Type(CellDisplayHook)
    display_pub_class = Type(CellPublisher)
    history_manager: Any
    interrupts: Interrupts
    tracer: Tracer | None = None
    libraries: Libraries
    rich = False  # for a notebook rather than for a model
    restore_streams: Any = staticmethod(lambda: None)
    _sent_images: frozenset[bytes] = frozenset()  # digests of those that the current cell has shown

    def init_profile_dir(self, profile_dir: Any) -> None:
        """Use no profile: it would be read from, and written to, the home folder of the user."""

    def init_history(self) -> None:
        self.history_manager = HistoryManager(shell=self, parent=self, hist_file=":memory:")

    def enable_history(self) -> None:
        """Keep a history for Jupyter clients, which request it: in memory, so that it ends with the kernel."""
        HistoryManager.enabled = True  # type: ignore[assignment]  # a trait
        self.history_manager = _SessionHistory(shell=self, parent=self, hist_file=":memory:")

    def init_environment(self) -> None:
        os.environ.update(TERM="dumb", NO_COLOR="1", PAGER="cat")  # output is read as plain text

    def register_trace_events(self) -> None:
        """Trace every cell that requests it."""
        self.events.register("pre_execute", self._start_trace)
        self.events.register("post_execute", self._stop_trace)

    def _start_trace(self) -> None:
        if self.tracer is not None:
            self.tracer.start()

    def _stop_trace(self) -> None:
        if self.tracer is not None:
            self.tracer.stop()

    def convert_display_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """What is sent of this display data: the host takes images as PNG files only."""
        if self.rich:
            return data
        converted = figures.convert_to_png(data)
        digest = figures.digest(converted)
        if digest in self._sent_images:
            return figures.without_image(converted)
        self._sent_images |= {digest} if digest else frozenset()
        return converted

    def forget_sent_images(self) -> None:
        """Let the next cell show what an earlier one has shown."""
        self._sent_images = frozenset()

    def is_noise(self, result: Any) -> bool:
        """Whether the last value of a cell says nothing to a model, such as `<matplotlib.lines.Line2D at 0x7f…>`."""
        return not self.rich and figures.is_drawn(result)

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> bool:
        code = self.interrupts.replace_interrupted(code_obj)
        return bool(await super().run_code(code, result, async_=async_ and code is code_obj))

    def ask_exit(self) -> None:
        if self.rich:
            super().ask_exit()
        else:
            raise SystemExit  # `exit()` ends the cell; the kernel must outlive it

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str, str]:
        return "inline", figures.BACKEND  # `%matplotlib …` would replace our backend

    def system(self, cmd: str) -> None:
        """Run `!cmd`: IPython's version needs a pseudo-terminal, and their number is limited machine-wide."""
        command = self.var_expand(cmd, depth=1)
        if self.libraries.refuses(command):
            print(self.libraries.refusal)
            self.user_ns["_exit_code"] = 1
            return
        self.user_ns["_exit_code"] = subprocess.call(command, shell=True)

    def showtraceback(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        self.restore_streams()
        # IPython's version inspects and colours every frame, which can take seconds.
        etype, error, _ = self._get_exc_info(exc_tuple)
        if isinstance(error, asyncio.CancelledError) and self.interrupts.has_cancelled:
            etype = KeyboardInterrupt
        message = format_message(error)  # of a syntax error, without "(<cell 3>, line 2)"
        advice = self.libraries.advise(error)
        lines = [*format_lines(etype, error, self.compile.current), *([advice] if advice else [])]
        self._showtraceback(etype, message, lines)

    def _format_exception_for_storage(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        return {}  # for notebooks made from a history; it would format IPython's own traceback

    def showsyntaxerror(self, *arguments: Any, **options: Any) -> None:
        self.showtraceback()

    def showindentationerror(self) -> None:
        self.showtraceback()


def format_message(error: BaseException) -> str:
    """The message of an exception, cut in the middle: some libraries put all of their data into it."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    half = MESSAGE_CHARS // 2
    return text if len(text) <= MESSAGE_CHARS else f"{text[:half]} … {text[-half:]}"


def cell_name(number: int) -> str:
    return f"<cell {number}>"


def format_lines(etype: type[BaseException], error: BaseException, current: int) -> list[str]:
    """The frames of cells, innermost last. The current cell is `<cell>`, earlier ones have a number."""
    frames = _frames(error.__traceback__, current)
    if isinstance(error, SyntaxError):
        frames += _syntax(error, current)
    if len(frames) > _FRAMES:
        half = _FRAMES // 2
        frames = [*frames[:half], f"  … {len(frames) - 2 * half} more frames", *frames[-half:]]
    head = ["Traceback (most recent call last):"] if frames else []
    return [*head, *frames, *_summary(etype, error)]


def _frames(tb: TracebackType | None, current: int) -> list[str]:
    return [
        _frame(
            _label(code.co_filename, current), line, code.co_name, linecache.getline(code.co_filename, line)
        )
        for frame, line in traceback.walk_tb(tb)
        if (code := frame.f_code).co_filename.startswith("<cell ")
    ]


def _syntax(error: SyntaxError, current: int) -> list[str]:
    file = str(error.filename)
    if not file.startswith("<cell ") or error.lineno is None:
        return []
    return [
        _frame(
            _label(file, current),
            error.lineno,
            "<module>",
            error.text or linecache.getline(file, error.lineno),
        )
    ]


def _label(file: str, current: int) -> str:
    return "<cell>" if file == cell_name(current) else file


def _frame(label: str, line: int, function: str, source: str) -> str:
    return f'  File "{label}", line {line}, in {function}\n    {source.strip()[:_LINE_CHARS]}'


def _summary(etype: type[BaseException], error: BaseException) -> list[str]:
    message = format_message(error)
    summary = f"{etype.__name__}: {message}" if message else etype.__name__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return (
        [summary]
        if cause is None
        else [summary, f"  (while handling {type(cause).__name__}: {format_message(cause)})"]
    )
