"""An ipykernel with one more request type, traces, and calls of host functions."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import faulthandler
import importlib
import json
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy.random
import zmq
from ipykernel.heartbeat import Heartbeat as IpykernelHeartbeat
from ipykernel.iostream import IOPubThread
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from IPython.core.history import HistoryManager
from IPython.core.inputtransformer2 import leading_empty_lines
from jupyter_client.jsonutil import json_clean, json_default
from jupyter_client.session import Session, new_id
from zmq.eventloop.zmqstream import ZMQStream

from . import figures, frames, images, streams, warmup
from .host import Host
from .interrupts import Interrupts
from .libraries import Libraries
from .shell import MESSAGE_CHARS, CellCompiler, CellShell
from .tracing.trace import TraceLimits, Tracer

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"


_CONNECT_POLL_S = 0.0005  # between two attempts while the host is about to connect
# what many sessions import and the warm-up does not
_LAZY_IMPORTS = (
    "PIL.ImageDraw",
    "PIL.ImageEnhance",
    "PIL.ImageFilter",
    "PIL.ImageFont",
    "PIL.TiffImagePlugin",  # reads EXIF
    "zmq.utils.garbage",  # sends what is large
)
_STREAM_CLASS = f"{streams.__name__}.{streams.CellStream.__name__}"


class CellKernel(IPythonKernel):
    """The kernel. `define_request` names images: {names: {name: file}, views} -> {failed: {name: reason}}.

    Its `links` are the files that appear in the working folder: {name: file}.
    """

    shell: Any
    session: Any
    iopub_socket: Any
    stdin_socket: Any
    trace_limits: TraceLimits
    work_folder: Path
    shell_class = CellShell
    compiler_class: Any = CellCompiler

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.shell.kernel = self  # the shell is created before the kernel
        self.interrupts = self.shell.interrupts = Interrupts()
        self.shell_handlers["define_request"] = self.define_request

    def attach_process_state(self, out: Any, err: Any) -> None:
        """Update after the fork what `__init__` took from the process before it."""
        self._stdout, self._stderr = out, err
        self._shell_context = contextvars.copy_context()
        self.shell.displayhook.pub_socket = self.shell.display_pub.pub_socket = self.iopub_socket

    async def execute_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        """Handle two additional keys: `trace`, a boolean, and `functions`, the names of host functions."""
        content = parent["content"]
        if "functions" in content:
            self.shell.user_ns["host"] = Host(
                content["functions"], self._send_host_call, self._receive_host_reply
            )
        self.shell.tracer = Tracer(self._send_trace, self.trace_limits) if content.get("trace") else None
        is_main = threading.current_thread() is threading.main_thread()  # not a subshell of a Jupyter client
        with self.interrupts.cell(parent["header"]["msg_id"]) if is_main else nullcontext():
            await super().execute_request(stream, ident, parent)

    async def interrupt_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        """Interrupt the cell whose request is named by `request`; without that, the one that runs."""
        self.interrupts.request(
            parent["content"].get("request", ""),
            self._send_interrupt_children,
            self.control_thread.io_loop.call_later,
        )
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    @contextmanager
    def _cancel_on_sigint(self, future: Any) -> Iterator[None]:
        """For a cell with `await`."""
        loop = asyncio.get_running_loop()
        with self.interrupts.cancelling(lambda: loop.call_soon_threadsafe(future.cancel)):
            yield

    def pre_handler_hook(self) -> None:
        """Let no SIGINT raise in a handler: `execute_request` allows it for the code of a cell."""

    def post_handler_hook(self) -> None:
        """Restore nothing."""

    async def do_execute(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        reply: dict[str, Any] = await super().do_execute(*arguments, **options)
        if "evalue" in reply:  # complete, whereas the `error` message has it cut
            reply["evalue"] = reply["evalue"][:MESSAGE_CHARS]
        return reply

    def _send_trace(self, content: dict[str, Any]) -> None:
        self.session.send(self.iopub_socket, "trace", content, self.get_parent("shell"))

    def _send_host_call(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        sys.stdout.flush()  # output before the call comes before the output of the call
        parent, ident = self.get_parent("shell"), self._get_shell_context_var(self._shell_parent_ident)
        self.stdin_socket.setsockopt(
            zmq.ROUTER_MANDATORY, 1
        )  # otherwise an early message is dropped silently
        while True:
            try:
                with self.interrupts.defer():
                    self.session.send(self.stdin_socket, "host_call", content, parent, ident, buffers=buffers)
                return
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
            time.sleep(_CONNECT_POLL_S)

    def _receive_host_reply(self) -> tuple[dict[str, Any], list[bytes]]:
        self.stdin_socket.poll()  # can raise KeyboardInterrupt
        with self.interrupts.defer():
            _, message = self.session.recv(self.stdin_socket)
        return message["content"], [bytes(buffer) for buffer in message["buffers"]]

    def define_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        loaded, failed = {}, {}
        for name, file in parent["content"]["names"].items():
            try:
                loaded[name] = images.load(file)
            except Exception as error:  # noqa: BLE001 - Pillow's plugins raise anything on a broken file
                failed[name] = f"{type(error).__name__}: {error}"
        if not failed:
            self.shell.user_ns.update(loaded)
            for name, image in loaded.items():
                frames.define(name, image)
            for name, view in parent["content"].get("views", {}).items():
                frames.define(name, view=view)
            images.link(parent["content"]["links"], self.work_folder)
        self.session.send(stream, "define_reply", {"status": "ok", "failed": failed}, parent, ident)


# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"


class CellApp(IPKernelApp):
    """Uses inherited sockets on which the host already listens, so that no folder is shared for them."""

    session: Any
    listening: dict[str, int]

    capture_fd_output = False  # streams.ChildOutput does it, cell by cell

    def prepare(self) -> None:
        """The part of the start that needs neither sockets nor threads, and so can run before the fork.

        This and `connect` replace `initialize` of ipykernel, which would also read a profile, extensions
        and start-up files, which a guest could have written.
        """
        self.profile_dir = None
        self.configure_tornado_logger()
        self.session = Session(pack=_pack_json)
        self.kernel = CellKernel.instance(parent=self, session=self.session, log=self.log, user_ns={})

    def connect(self) -> None:
        """The rest of the start, after the fork."""
        self.init_sockets()
        self.init_heartbeat()
        self.init_io()
        self.init_signal()
        self.init_kernel()
        self.init_shell()

    def init_kernel(self) -> None:
        """Set what ipykernel passes to the kernel's constructor: `prepare` has created the kernel without it."""
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
        kernel.attach_process_state(sys.stdout, sys.stderr)
        self.displayhook.get_execution_count = lambda: kernel.execution_count

    def init_heartbeat(self) -> None:
        """Only for a Jupyter client: our host watches the process itself."""
        if "hb" in self.listening:
            self.heartbeat = Heartbeat(zmq.Context(), ("ipc", "", 1))
            self.heartbeat.descriptor = self.listening["hb"]
            self.heartbeat.start()

    def _bind_socket(self, s: Any, port: int) -> int:
        channel = next(name for name in self.listening if s is getattr(self, f"{name}_socket", None))
        if channel == "iopub":  # send a welcome to each subscriber, even while another one disconnects
            s.setsockopt(zmq.XPUB_VERBOSE, 1)
        _adopt(s, self.listening[channel])
        return 1

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        # It would try ten times a second to connect to the shell socket by a path that does not exist here.
        self.debug_shell_socket.disconnect(self.shell_socket.getsockopt(zmq.LAST_ENDPOINT))

    def init_iopub(self, context: Any) -> None:
        self.iopub_socket = context.socket(zmq.XPUB)
        self.iopub_socket.linger = 1000
        self.iopub_port = self._bind_socket(self.iopub_socket, 0)
        # No pipe: it would be a TCP port, and child processes write to their descriptors (see streams.py).
        self.iopub_thread = IOPubThread(self.iopub_socket, pipe=False, session=self.session)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def close(self) -> None:
        """Send the remaining output. The control thread ends first: it may be waiting for the output thread."""
        sys.stdout.flush()
        if self.control_thread.is_alive():  # it is not yet, if the start failed
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
    """Echoes on an inherited socket."""

    descriptor: int

    def _try_bind_socket(self) -> None:
        _adopt(self.socket, self.descriptor)


def warm_up(setup: dict[str, Any]) -> None:
    """Create the shell and the kernel that every fork continues with, and run them once."""
    warnings.filterwarnings("ignore", message="To exit: use")
    warnings.filterwarnings("ignore", message="This process .* is multi-threaded")
    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # importing a debugger that is never used costs 150 ms
    os.environ["MPLBACKEND"] = figures.BACKEND
    shell: Any = CellShell.instance(user_ns={}, compiler_class=CellCompiler)
    # Without the leading empty lines of a cell its line numbers would be wrong.
    shell.input_transformer_manager.cleanup_transforms.remove(leading_empty_lines)
    figures.install(shell, setup["figure_pixels"], setup["figure_bytes"])
    shell.libraries = Libraries(setup["libraries"])
    shell.libraries.replace_installers(shell)
    images.remove_pillow_limits()
    frames.install()
    for name in (*_LAZY_IMPORTS, *setup["preload"]):
        importlib.import_module(name)
    app: Any = CellApp.instance(kernel_class=CellKernel, outstream_class=_STREAM_CLASS, log_level=50)
    app.prepare()
    warmup.run(app)


def serve(descriptors: list[int]) -> None:
    """Run the kernel of a session until the container ends. The first descriptor delivers its setup."""
    with os.fdopen(descriptors[0], "rb") as pipe:
        setup = json.load(pipe)
    faulthandler.register(
        signal.SIGUSR1, file=descriptors[1], all_threads=False
    )  # reports where a cell is stuck
    sys.path.append(str(Path.cwd()))
    _seed(setup["seed"])
    app: Any = CellApp.instance()
    app.listening = dict(zip(setup["channels"], descriptors[2:], strict=True))
    app.session.key, app.session.session, app.session.pid = setup["key"].encode(), new_id(), os.getpid()
    app.connect()
    app.shell.rich = setup["rich"]
    if app.shell.rich:
        figures.allow_all_types(app.shell)
        app.shell.enable_history()
    else:
        app.shell.libraries.bind()
        print_plain_scalars()
        app.shell.events.register("pre_execute", app.shell.forget_sent_images)
    app.shell.user_ns.update(images.default_names())
    app.shell.restore_streams = streams.build_restorer()
    app.kernel.work_folder = Path.cwd()
    app.kernel.trace_limits = TraceLimits(**setup["trace"])
    app.shell.register_trace_events()
    streams.capture_children(app.shell.events)
    app.shell.events.register("post_execute", app.shell.restore_streams)
    streams.attribute_threads_to_cells()
    atexit._clear()  # they include `close` of ipykernel, which must come last
    app.start()
    atexit._run_exitfuncs()  # a Jupyter client has asked the kernel to end
    app.close()


def print_plain_scalars() -> None:
    """Let numbers of numpy print as numbers, as before numpy 2: `3.0` instead of `np.float64(3.0)`."""
    if int(numpy.__version__.partition(".")[0]) >= 2:
        numpy.set_printoptions(legacy="1.25")


def _pack_json(content: Any) -> bytes:
    """JSON in ASCII: text with a lone surrogate could not be encoded otherwise."""
    try:
        return json.dumps(content, default=json_default, allow_nan=False).encode()
    except (TypeError, ValueError):  # NaN and infinity, dictionaries with keys that are not text
        return json.dumps(json_clean(content), default=json_default, allow_nan=False).encode()


def _adopt(socket: Any, descriptor: int) -> None:
    socket.setsockopt(zmq.USE_FD, descriptor)
    socket.bind(f"ipc:///tmp/.{descriptor}")  # the path is not used: the socket is already bound


def _seed(seed: int | None) -> None:
    """Seed the random generators of a session: by its seed, or unpredictably, so that forks differ."""
    random.seed(seed)
    numpy.random.seed(seed)
