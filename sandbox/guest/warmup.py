"""Warm up the zygote: run a kernel in it with a few cells, before the first fork.

Python, IPython, ipykernel, tornado and matplotlib do their one-time work then (imports, compilation, defaults), and
every fork inherits the result.
"""

# ipykernel, IPython and tornado are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import asyncio
import atexit
import linecache
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import Session

_TIMEOUT_MS = 5000
_WELCOME_MS = 200
_CHANNELS = ("shell", "control", "iopub", "stdin")
_CELLS = (
    "1",
    "1",  # the second run specializes the bytecode
    "print(1)",
    "from matplotlib import pyplot\npyplot.figure(figsize=(1, 1))\npyplot.plot([0, 1], label='a')\n"
    "pyplot.legend()\npyplot.show()",
    "from PIL import Image\nImage.new('RGB', (1, 1))",
    "1 / 0",
)


def run(app: Any) -> None:
    """Serve our own client with this app, then reset it and leave no thread behind."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(_standard_files())
        app.session.key = os.urandom(32)
        app.listening = {channel: _listen(folder / channel) for channel in _CHANNELS}
        app.connect()
        client = threading.Thread(target=_run_client, args=(folder, app))
        client.start()
        app.start()
        client.join()
        app.close()
    _reset(app)


@contextmanager
def _standard_files() -> Iterator[None]:
    """Restore the standard descriptors, which a kernel replaces."""
    copies = [os.dup(standard) for standard in (0, 1, 2)]
    try:
        yield
    finally:
        for standard, copy in enumerate(copies):
            os.dup2(copy, standard)
            os.close(copy)


def _listen(path: Path) -> int:
    """The descriptor of a new listening socket for the kernel."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    os.set_blocking(listening.fileno(), False)
    return listening.detach()


def _run_client(folder: Path, app: Any) -> None:
    """Run the client, then stop the kernel's loop. After a missing answer the rest is skipped."""
    session = Session(key=app.session.key)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.setsockopt(zmq.RCVTIMEO, _TIMEOUT_MS)
    try:
        shell, output = context.socket(zmq.DEALER), context.socket(zmq.SUB)
        output.subscribe(b"")
        shell.connect(f"ipc://{folder}/shell")
        output.connect(f"ipc://{folder}/iopub")
        # `stop_on_error`: after an error the kernel would refuse what comes next
        cells = [{"code": code, "silent": False, "functions": [], "stop_on_error": False} for code in _CELLS]
        requests = [("kernel_info_request", {}), *(("execute_request", cell) for cell in cells)]
        output.poll(_WELCOME_MS)  # ipykernel can miss a subscription that arrives while it sends
        for kind, content in requests:
            session.send(shell, kind, content)
            _wait_until_idle(shell, output)
    except zmq.Again:
        return
    finally:
        context.destroy(linger=0)
        app.kernel.io_loop.add_callback(app.kernel.io_loop.stop)


def _wait_until_idle(shell: zmq.Socket[bytes], output: zmq.Socket[bytes]) -> None:
    """Wait until the kernel has finished a request."""
    shell.recv_multipart()
    while not any(b'"idle"' in frame for frame in output.recv_multipart()):
        continue


def _reset(app: Any) -> None:
    """Remove every trace of the warm-up that a session could observe."""
    for at_exit in (app.close, app.iopub_thread.stop):
        atexit.unregister(at_exit)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cancelled = getattr(app.iopub_thread, "_event_pipe_gc_task", None)
    if cancelled is not None:  # it never ran again, about which asyncio would warn on standard error
        cancelled._log_destroy_pending = False
    app.kernel.io_loop.close()
    asyncio.set_event_loop_policy(None)
    app.context = None
    app.session.digest_history.clear()
    app.session.message_count = 0
    app.shell.reset()
    app.shell.user_ns.update({"_": "", "__": "", "___": ""})  # a new shell defines them
    app.shell.compile.current = 0
    for name in [name for name in linecache.cache if name.startswith("<cell")]:
        del linecache.cache[name]
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
