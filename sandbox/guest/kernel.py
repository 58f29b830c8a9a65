"""An ipykernel with one more request type, traces, and calls of host functions."""

# ipykernel and IPython are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextvars
import sys
import time
from typing import Any

import zmq
from ipykernel.ipkernel import IPythonKernel

from . import images, tracebacks
from .batches import Limits as TraceLimits
from .host import Host
from .shell import CellCompiler, CellShell
from .trace import Tracer

_CONNECT_POLL_S = 0.0005  # between two attempts while the host is about to connect


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
        self.shell.kernel = self  # the shell is created before the kernel
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
        await super().execute_request(stream, ident, parent)

    async def do_execute(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        reply: dict[str, Any] = await super().do_execute(*arguments, **options)
        if "evalue" in reply:  # complete, whereas the `error` message has it cut
            reply["evalue"] = reply["evalue"][: tracebacks.MESSAGE_CHARS]
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
                self.session.send(self.stdin_socket, "host_call", content, parent, ident, buffers=buffers)
                return
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
            time.sleep(_CONNECT_POLL_S)

    def _receive_host_reply(self) -> tuple[dict[str, Any], list[bytes]]:
        self.stdin_socket.poll()  # can raise KeyboardInterrupt
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
        self.session.send(stream, "define_reply", {"status": "ok", "failed": failed}, parent, ident)
