"""An ordinary ipykernel but for its sockets, pictures and tracebacks, and one request more."""

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import zmq
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.history import HistoryManager

from . import figures, pictures, streams, tracebacks


class CellCompiler(CachingCompiler):
    """Names a cell by its number, so that a traceback can tell it from the library and from other cells."""

    current = 0

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        self.current = number
        return tracebacks.cell_name(number)


class CellShell(ZMQInteractiveShell):
    """Ends with the room only, draws through our backend whatever a cell asks for, keeps tracebacks short."""

    compile: Any
    restore_streams: Any = staticmethod(lambda: None)

    def init_environment(self) -> None:
        os.environ.update(TERM="dumb", NO_COLOR="1", PAGER="cat")  # output is read as plain text

    def ask_exit(self) -> None:
        raise SystemExit  # `exit()` ends the cell; the kernel must outlive it

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str, str]:
        return "inline", figures.BACKEND  # `%matplotlib …` would put another backend in the place of ours

    def showtraceback(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        self.restore_streams()
        # IPython's own inspects and colours every frame, which takes up to seconds.
        etype, error, _ = self._get_exc_info(exc_tuple)
        shown = error.msg if isinstance(error, SyntaxError) else error  # without "(<cell 3>, line 2)"
        self._showtraceback(etype, shown, tracebacks.lines(etype, error, self.compile.current))

    def _format_exception_for_storage(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        return {}  # for notebooks made from a history; it would make IPython's own traceback after all

    def showsyntaxerror(self, *arguments: Any, **options: Any) -> None:
        self.showtraceback()

    def showindentationerror(self) -> None:
        self.showtraceback()


class CellKernel(IPythonKernel):
    """The kernel. `define_request` names images: {names: {name: file}} -> {failed: {name: reason}}."""

    shell: Any
    session: Any
    shell_class = CellShell
    compiler_class: Any = CellCompiler

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.shell_handlers["define_request"] = self.define_request

    def define_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        loaded, failed = {}, {}
        for name, file in parent["content"]["names"].items():
            try:
                loaded[name] = pictures.load(file)
            except Exception as error:  # noqa: BLE001 - Pillow's plugins raise anything on a broken file
                failed[name] = f"{type(error).__name__}: {error}"
        if not failed:
            self.shell.user_ns.update(loaded)
        self.session.send(stream, "define_reply", {"status": "ok", "failed": failed}, parent, ident)


class CellApp(IPKernelApp):
    """Adopts the sockets on which the host already listens, so that no folder is shared for them."""

    sockets: dict[str, int]

    def init_connection_file(self) -> None:
        """There is none: everything it would say came with the setup."""

    def write_connection_file(self, **options: Any) -> None:
        """There is none."""

    def init_heartbeat(self) -> None:
        """Not needed: the host watches the process itself."""

    def init_crash_handler(self) -> None:
        """Python's own is good enough: what it says on standard error goes into the KernelStartError."""

    def _bind_socket(self, s: Any, port: int) -> int:
        for channel, kind in (("shell", zmq.ROUTER), ("control", zmq.ROUTER), ("iopub", zmq.XPUB)):
            if s is getattr(self, f"{channel}_socket") and s.type == kind:
                if kind == zmq.XPUB:  # a welcome for each subscriber, also while another one is leaving
                    s.setsockopt(zmq.XPUB_VERBOSE, 1)
                s.setsockopt(zmq.USE_FD, self.sockets[channel])
                s.bind(f"ipc:///tmp/.{channel}")  # the name is not used: the socket is bound already
                return 1
        s.bind("ipc:///tmp/.stdin")  # nobody connects: input() is an error
        return 1

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        # It would try to reach the shell socket under a path that does not exist in here, ten times a second.
        self.debug_shell_socket.disconnect(self.shell_socket.getsockopt(zmq.LAST_ENDPOINT))

    def init_io(self) -> None:
        # ipykernel echoes what it captures to the original streams, and would hang once their pipe is full.
        sink = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(sink, standard)
        super().init_io()

    def init_gui_pylab(self) -> None:
        """Figures are shown by `figures`, not by the inline backend."""


def serve(setup: dict[str, Any]) -> None:
    """Run the kernel until it is killed."""
    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a debugger that nobody attaches costs 150 ms
    os.environ["MPLBACKEND"] = figures.BACKEND
    warnings.filterwarnings("ignore", message="To exit: use")
    stream_class = f"{streams.__name__}.{streams.CellStream.__name__}"
    app: Any = CellApp.instance(kernel_class=CellKernel, outstream_class=stream_class, log_level=50)
    app.sockets = setup["sockets"]
    app.session.key = setup["key"].encode()
    app.initialize([])
    figures.install(app.shell, setup["figure_pixels"])
    app.shell.user_ns.update(pictures.names())
    app.shell.restore_streams = streams.keeper()
    app.shell.events.register("post_execute", app.shell.restore_streams)
    streams.give_threads_their_cell()
    app.start()
