"""The IPython shell of cells: our own image backend, short tracebacks, and no exit before the container ends."""

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import subprocess
from typing import Any

from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.history import HistoryManager
from traitlets import Type

from . import figures, tracebacks
from .trace import Tracer


class CellCompiler(CachingCompiler):
    """Names a cell by its number, so that a traceback can distinguish it from libraries and other cells."""

    current = 0

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        self.current = number
        return tracebacks.cell_name(number)


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

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        super().write_format_data(self.shell.convert_display_data(format_dict), md_dict)


class CellShell(ZMQInteractiveShell):
    """Exits only with the container, always uses our image backend, and keeps tracebacks short."""

    compile: Any
    displayhook_class = Type(CellDisplayHook)
    display_pub_class = Type(CellPublisher)
    history_manager: Any
    tracer: Tracer | None = None
    rich = False  # for a notebook rather than for a model
    restore_streams: Any = staticmethod(lambda: None)

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
        return data if self.rich else figures.convert_to_png(data)

    def ask_exit(self) -> None:
        if self.rich:
            super().ask_exit()
        else:
            raise SystemExit  # `exit()` ends the cell; the kernel must outlive it

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str, str]:
        return "inline", figures.BACKEND  # `%matplotlib …` would replace our backend

    def system(self, cmd: str) -> None:
        """Run `!cmd`: IPython's version needs a pseudo-terminal, and their number is limited machine-wide."""
        self.user_ns["_exit_code"] = subprocess.call(self.var_expand(cmd, depth=1), shell=True)

    def showtraceback(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        self.restore_streams()
        # IPython's version inspects and colours every frame, which can take seconds.
        etype, error, _ = self._get_exc_info(exc_tuple)
        message = tracebacks.format_message(error)  # of a syntax error, without "(<cell 3>, line 2)"
        self._showtraceback(etype, message, tracebacks.format_lines(etype, error, self.compile.current))

    def _format_exception_for_storage(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        return {}  # for notebooks made from a history; it would format IPython's own traceback

    def showsyntaxerror(self, *arguments: Any, **options: Any) -> None:
        self.showtraceback()

    def showindentationerror(self) -> None:
        self.showtraceback()
