"""A kernel's process: what is done of its start before the fork, and the rest on sockets that it adopts."""

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import atexit
import faulthandler
import importlib
import json
import os
import random
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy.random
import zmq
from ipykernel.heartbeat import Heartbeat as IpykernelHeartbeat
from ipykernel.iostream import IOPubThread
from ipykernel.kernelapp import IPKernelApp
from IPython.core.history import HistoryManager
from IPython.core.inputtransformer2 import leading_empty_lines
from jupyter_client.jsonutil import json_clean, json_default
from jupyter_client.session import Session, new_id
from zmq.eventloop.zmqstream import ZMQStream

from . import figures, images, streams, warmup
from .batches import Limits as TraceLimits
from .kernel import CellKernel
from .shell import CellCompiler, CellShell

# what many sessions import, and the warmup does not
_USED_LATE = (
    "PIL.ImageDraw",
    "PIL.ImageEnhance",
    "PIL.ImageFilter",
    "PIL.ImageFont",
    "PIL.TiffImagePlugin",  # reads EXIF
    "zmq.utils.garbage",  # sends what is large
)
_STREAM_CLASS = f"{streams.__name__}.{streams.CellStream.__name__}"


class CellApp(IPKernelApp):
    """Adopts the sockets on which the host already listens, so that no folder is shared for them."""

    session: Any
    listening: dict[str, int]

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
    """Make the shell and the kernel that each fork goes on with, and try them out."""
    warnings.filterwarnings("ignore", message="To exit: use")
    warnings.filterwarnings("ignore", message="This process .* is multi-threaded")
    HistoryManager.enabled = False  # type: ignore[assignment]  # a trait
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a debugger that nobody attaches costs 150 ms
    os.environ["MPLBACKEND"] = figures.BACKEND
    shell: Any = CellShell.instance(user_ns={}, compiler_class=CellCompiler)
    # Empty lines left out at the beginning of a cell would be missing in the numbers of its lines.
    shell.input_transformer_manager.cleanup_transforms.remove(leading_empty_lines)
    figures.install(shell, setup["figure_pixels"], setup["figure_bytes"])
    images.lift_limits()
    for name in (*_USED_LATE, *setup["preload"]):
        importlib.import_module(name)
    app: Any = CellApp.instance(kernel_class=CellKernel, outstream_class=_STREAM_CLASS, log_level=50)
    app.prepare()
    warmup.play(app)


def serve(descriptors: list[int]) -> None:
    """Be the kernel of a session until the container ends. The first descriptor tells how, and that it may begin."""
    with os.fdopen(descriptors[0], "rb") as told:
        setup = json.load(told)
    faulthandler.register(
        signal.SIGUSR1, file=descriptors[1], all_threads=False
    )  # says where a cell is stuck
    sys.path.append(str(Path.cwd()))
    _seed(setup["seed"])
    app: Any = CellApp.instance()
    app.listening = dict(zip(setup["channels"], descriptors[2:], strict=True))
    app.session.key, app.session.session, app.session.pid = setup["key"].encode(), new_id(), os.getpid()
    app.connect()
    app.shell.rich = setup["rich"]
    if app.shell.rich:
        figures.allow_every_type(app.shell)
        app.shell.keep_history()
    app.shell.user_ns.update(images.names())
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


def _seed(seed: int | None) -> None:
    """Begin the chance of a session: by its seed, or without one as no other fork of the zygote does."""
    random.seed(seed)
    numpy.random.seed(seed)
