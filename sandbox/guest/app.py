"""The kernel process: the part of its start before the fork, and the rest on inherited sockets."""

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
    images.remove_pillow_limits()
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
    app.shell.user_ns.update(images.default_names())
    app.shell.restore_streams = streams.build_restorer()
    app.kernel.trace_limits = TraceLimits(**setup["trace"])
    app.shell.register_trace_events()
    streams.capture_children(app.shell.events)
    app.shell.events.register("post_execute", app.shell.restore_streams)
    streams.attribute_threads_to_cells()
    atexit._clear()  # they include `close` of ipykernel, which must come last
    app.start()
    atexit._run_exitfuncs()  # a Jupyter client has asked the kernel to end
    app.close()


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
