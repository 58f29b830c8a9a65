"""An ordinary ipykernel but for its sockets, pictures and tracebacks, and one request more."""

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import atexit
import contextvars
import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import zmq
from ipykernel.heartbeat import Heartbeat as IpykernelHeartbeat
from ipykernel.iostream import IOPubThread
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.history import HistoryManager
from IPython.core.inputtransformer2 import leading_empty_lines
from jupyter_client.jsonutil import json_clean, json_default
from jupyter_client.session import Session, new_id
from zmq.eventloop.zmqstream import ZMQStream

from . import figures, pictures, streams, tracebacks
from .batches import Limits as TraceLimits
from .host import Host
from .trace import Tracer

_STREAM_CLASS = f"{streams.__name__}.{streams.CellStream.__name__}"
# what a kernel would else import while it starts, or with its first cell
_USED_LATE = (
    "ipykernel.debugger",
    "numpy.random",
    "tornado.gen",
    "tornado.locks",
    "tornado.platform.asyncio",
    "tornado.queues",
)

_HOST_COMES_S = 0.0005  # between two looks whether the host has connected; it is about to


class CellCompiler(CachingCompiler):
    """Names a cell by its number, so that a traceback can tell it from the library and from other cells."""

    current = 0

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        self.current = number
        return tracebacks.cell_name(number)


class CellShell(ZMQInteractiveShell):
    """Ends with the room only, draws through our backend whatever a cell asks for, keeps tracebacks short."""

    compile: Any
    history_manager: Any
    tracer: Tracer | None = None
    restore_streams: Any = staticmethod(lambda: None)

    def init_profile_dir(self, profile_dir: Any) -> None:
        """There is none: it would be read from, and written to, the home of whoever runs this."""

    def init_history(self) -> None:
        self.history_manager = HistoryManager(shell=self, parent=self, hist_file=":memory:")

    def init_environment(self) -> None:
        os.environ.update(TERM="dumb", NO_COLOR="1", PAGER="cat")  # output is read as plain text

    def watch_cells(self) -> None:
        """Trace the cells for which that was asked."""
        self.events.register("pre_execute", self._start_trace)
        self.events.register("post_execute", self._stop_trace)

    def _start_trace(self) -> None:
        if self.tracer is not None:
            self.tracer.start()

    def _stop_trace(self) -> None:
        if self.tracer is not None:
            self.tracer.stop()

    def ask_exit(self) -> None:
        if CellApp.instance().rich:
            super().ask_exit()
        else:
            raise SystemExit  # `exit()` ends the cell; the kernel must outlive it

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str, str]:
        return "inline", figures.BACKEND  # `%matplotlib …` would put another backend in the place of ours

    def system(self, cmd: str) -> None:
        """`!cmd`: IPython's own needs a terminal, of which a machine has but a few."""
        self.user_ns["_exit_code"] = subprocess.call(self.var_expand(cmd, depth=1), shell=True)

    def showtraceback(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        self.restore_streams()
        # IPython's own inspects and colours every frame, which takes up to seconds.
        etype, error, _ = self._get_exc_info(exc_tuple)
        shown = tracebacks.message(error)  # of a syntax error, without "(<cell 3>, line 2)"
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
    iopub_socket: Any
    stdin_socket: Any
    trace_limits: TraceLimits
    shell_class = CellShell
    compiler_class: Any = CellCompiler

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.shell.kernel = self  # it was made before any kernel was
        self.shell_handlers["define_request"] = self.define_request

    def take_over(self, out: Any, err: Any) -> None:
        """After the fork: everything that `__init__` took from the process as it was then."""
        self._stdout, self._stderr = out, err
        self._shell_context = contextvars.copy_context()
        self.shell.displayhook.pub_socket = self.shell.display_pub.pub_socket = self.iopub_socket

    async def execute_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        """With two keys of our own: `trace`, a boolean, and `functions`, names of functions of the host."""
        content = parent["content"]
        if "functions" in content:
            self.shell.user_ns["host"] = Host(content["functions"], self._ask_host, self._hear_host)
        self.shell.tracer = Tracer(self._tell_trace, self.trace_limits) if content.get("trace") else None
        await super().execute_request(stream, ident, parent)

    async def do_execute(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        reply: dict[str, Any] = await super().do_execute(*arguments, **options)
        if "evalue" in reply:  # whole, where the `error` message has it cut
            reply["evalue"] = reply["evalue"][: tracebacks.MESSAGE_CHARS]
        return reply

    def _tell_trace(self, content: dict[str, Any]) -> None:
        self.session.send(self.iopub_socket, "trace", content, self.get_parent("shell"))

    def _ask_host(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        sys.stdout.flush()  # what was said before the call comes before what is said about it
        parent, ident = self.get_parent("shell"), self._get_shell_context_var(self._shell_parent_ident)
        self.stdin_socket.setsockopt(
            zmq.ROUTER_MANDATORY, 1
        )  # else what comes too early is dropped in silence
        while True:
            try:
                self.session.send(self.stdin_socket, "host_call", content, parent, ident, buffers=buffers)
                return
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
            time.sleep(_HOST_COMES_S)

    def _hear_host(self) -> tuple[dict[str, Any], list[bytes]]:
        self.stdin_socket.poll()  # ends with a KeyboardInterrupt too
        _, message = self.session.recv(self.stdin_socket)
        return message["content"], [bytes(buffer) for buffer in message["buffers"]]

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

    session: Any
    listening: dict[str, int]
    rich = False  # for a notebook rather than for a model

    capture_fd_output = False  # streams.ChildOutput does it, cell by cell

    def prepare(self) -> None:
        """The part of a start that needs neither socket nor thread, and so can come before a fork.

        `initialize` of ipykernel, which this and `connect` stand for, would also read a profile, extensions
        and start-up files, which a guest could have written.
        """
        self.profile_dir = None
        self.configure_tornado_logger()
        self.session = Session(pack=_packed)
        self.kernel = CellKernel.instance(parent=self, session=self.session, log=self.log, user_ns={})

    def connect(self) -> None:
        """The rest of it."""
        self.init_sockets()
        self.init_heartbeat()
        self.init_io()
        self.init_signal()
        self.init_kernel()
        self.init_shell()

    def init_kernel(self) -> None:
        """Give the kernel, which `prepare` has made, what `__init__` of ipykernel would have got and passed on."""
        control, shell_channel = self.control_thread, self.shell_channel_thread
        shell_channel.shell_stream = ZMQStream(self.shell_socket, shell_channel.io_loop)
        control.start()
        shell_channel.start()
        kernel = self.kernel
        kernel.control_thread, kernel.shell_channel_thread = control, shell_channel
        kernel.control_stream = ZMQStream(self.control_socket, control.io_loop)
        kernel.shell_stream = shell_channel.shell_stream
        kernel.iopub_thread, kernel.iopub_socket = self.iopub_thread, self.iopub_socket
        kernel.stdin_socket, kernel.debug_shell_socket = self.stdin_socket, self.debug_shell_socket
        kernel.take_over(sys.stdout, sys.stderr)
        self.displayhook.get_execution_count = lambda: kernel.execution_count

    def init_heartbeat(self) -> None:
        """Only for a Jupyter client: our host watches the process itself."""
        if "hb" in self.listening:
            self.heartbeat = Heartbeat(zmq.Context(), ("ipc", "", 1))
            self.heartbeat.descriptor = self.listening["hb"]
            self.heartbeat.start()

    def _bind_socket(self, s: Any, port: int) -> int:
        channel = next(name for name in self.listening if s is getattr(self, f"{name}_socket", None))
        if channel == "iopub":  # a welcome for each subscriber, also while another one is leaving
            s.setsockopt(zmq.XPUB_VERBOSE, 1)
        _adopt(s, self.listening[channel])
        return 1

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        # It would try to reach the shell socket under a path that does not exist in here, ten times a second.
        self.debug_shell_socket.disconnect(self.shell_socket.getsockopt(zmq.LAST_ENDPOINT))

    def init_iopub(self, context: Any) -> None:
        self.iopub_socket = context.socket(zmq.XPUB)
        self.iopub_socket.linger = 1000
        self.iopub_port = self._bind_socket(self.iopub_socket, 0)
        # No pipe: it would be a TCP port, and forked processes write to their descriptors (see streams).
        self.iopub_thread = IOPubThread(self.iopub_socket, pipe=False, session=self.session)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def close(self) -> None:
        """Send what is left. The control thread ends first: it may be waiting for the output thread."""
        sys.stdout.flush()
        self.control_thread.stop()
        self.control_thread.join()
        super().close()

    def init_io(self) -> None:
        sink = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(sink, standard)
        os.close(sink)
        super().init_io()


class Heartbeat(IpykernelHeartbeat):
    """Echoes on a socket that it adopts."""

    descriptor: int

    def _try_bind_socket(self) -> None:
        _adopt(self.socket, self.descriptor)


def warm(setup: dict[str, Any]) -> None:
    """Import and draw once what every kernel needs, and make the shell that each fork goes on with."""
    warnings.filterwarnings("ignore", message="To exit: use")
    warnings.filterwarnings("ignore", message="This process .* is multi-threaded")
    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a debugger that nobody attaches costs 150 ms
    os.environ["MPLBACKEND"] = figures.BACKEND
    shell: Any = CellShell.instance(user_ns={}, compiler_class=CellCompiler)
    # Empty lines left out at the beginning of a cell would be missing in the numbers of its lines.
    shell.input_transformer_manager.cleanup_transforms.remove(leading_empty_lines)
    figures.install(shell, setup["figure_pixels"])
    figures.warm()
    pictures.lift_limits()
    for name in (*_USED_LATE, *setup["preload"]):
        importlib.import_module(name)
    app: Any = CellApp.instance(kernel_class=CellKernel, outstream_class=_STREAM_CLASS, log_level=50)
    app.prepare()


def serve(descriptors: list[int]) -> None:
    """Be the kernel of a session until the room ends. The first descriptor tells how, and that it may begin."""
    with os.fdopen(descriptors[0], "rb") as told:
        setup = json.load(told)
    faulthandler.register(
        signal.SIGUSR1, file=descriptors[1], all_threads=False
    )  # says where a cell is stuck
    sys.path.append(str(Path.cwd()))
    _forget_the_template()
    app: Any = CellApp.instance()
    app.rich = setup["rich"]
    app.listening = dict(zip(setup["channels"], descriptors[2:], strict=True))
    app.session.key, app.session.session, app.session.pid = setup["key"].encode(), new_id(), os.getpid()
    app.connect()
    if app.rich:
        figures.allow_every_type(app.shell)
    app.shell.user_ns.update(pictures.names())
    app.shell.restore_streams = streams.keeper()
    app.kernel.trace_limits = TraceLimits(**setup["trace"])
    app.shell.watch_cells()
    streams.watch_children(app.shell.events)
    app.shell.events.register("post_execute", app.shell.restore_streams)
    streams.give_threads_their_cell()
    atexit._clear()  # `close` of ipykernel is among them, and must come last
    app.start()
    atexit._run_exitfuncs()  # a Jupyter client has asked the kernel to end
    app.close()


def _packed(content: Any) -> bytes:
    """As JSON in ASCII: text with half of a surrogate pair could not be encoded otherwise."""
    try:
        return json.dumps(content, default=json_default, allow_nan=False).encode()
    except (TypeError, ValueError):  # numbers that JSON lacks, dictionaries with other keys than text
        return json.dumps(json_clean(content), default=json_default, allow_nan=False).encode()


def _adopt(socket: Any, descriptor: int) -> None:
    socket.setsockopt(zmq.USE_FD, descriptor)
    socket.bind(f"ipc:///tmp/.{descriptor}")  # the name is not used: the socket is bound already


def _forget_the_template() -> None:
    """What forks must not have in common."""
    import random

    import numpy as np

    random.seed()
    np.random.seed()  # the global state, which every fork has got
