"""The baseline: jupyter_client's manager and client with a standard ipykernel, without isolation.

As fast as the public interface allows: Unix sockets (`transport="ipc"`); connected as soon as the sockets exist, since
ZeroMQ retries only every 100 ms; ready after the reply to `kernel_info` and the welcome message, not after
`wait_for_ready`, which listens for another 200 ms; messages read directly from the channels; killed on close
(`shutdown_kernel(now=True)`).
"""

from __future__ import annotations

import base64
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_START_S = 60.0
_CELL_S = 600.0


@dataclass(frozen=True, slots=True)
class PlainResult:
    """All output of a cell, as a caller of jupyter_client would keep it."""

    status: str
    text: str
    figures: tuple[bytes, ...]


class PlainKernel:
    """Started and ready after construction."""

    def __init__(self) -> None:
        from jupyter_client.manager import KernelManager

        self._folder = tempfile.TemporaryDirectory(prefix="plain-")
        file = str(Path(self._folder.name, "kernel.json"))
        self._manager = KernelManager(transport="ipc", connection_file=file)
        self._client: Any = None
        try:
            self._manager.start_kernel()
            self._connect(time.monotonic() + _START_S)
        except BaseException:  # also on Ctrl-C: the caller has no reference yet
            self.close()
            raise

    def run(self, code: str) -> PlainResult:
        """Run one cell until its reply and the end of its output."""
        import zmq

        identity = self._client.execute(code, allow_stdin=False)
        poller = zmq.Poller()
        for channel in (self._client.iopub_channel, self._client.shell_channel):
            poller.register(channel.socket, zmq.POLLIN)
        messages: list[dict[str, Any]] = []
        status, idle = "", False
        end = time.monotonic() + _CELL_S
        while not (status and idle):
            ready = {source for source, _ in poller.poll(int(max(0, end - time.monotonic()) * 1000))}
            if not ready:
                raise TimeoutError(f"no message from the plain kernel within {_CELL_S:g} s")
            if self._client.iopub_channel.socket in ready:
                message = self._client.iopub_channel.get_msg()
                if message["parent_header"].get("msg_id") == identity:
                    idle = message["content"].get("execution_state") == "idle"
                    messages.append(message)
            if self._client.shell_channel.socket in ready:
                status = self._client.shell_channel.get_msg()["content"]["status"]
        return _result(status, messages)

    def close(self) -> None:
        if self._client is not None:
            self._client.stop_channels()
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
        self._folder.cleanup()

    def _connect(self, end: float) -> None:
        for port in (self._manager.shell_port, self._manager.iopub_port):
            _wait_for(Path(f"{self._manager.ip}-{port}"), end)
        self._client = self._manager.blocking_client()
        self._client.start_channels(hb=False, stdin=False, control=False)
        self._client.kernel_info()
        for channel, kind in (
            (self._client.iopub_channel, "iopub_welcome"),
            (self._client.shell_channel, "kernel_info_reply"),
        ):
            while channel.get_msg(timeout=max(0, end - time.monotonic()))["msg_type"] != kind:
                continue

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def _wait_for(path: Path, end: float) -> None:
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"the plain kernel did not start within {_START_S:g} s: {path} is missing")
        time.sleep(0.001)


def _result(status: str, messages: list[dict[str, Any]]) -> PlainResult:
    contents = [message["content"] for message in messages]
    text = "".join(content["text"] for content in contents if "text" in content)
    figures = [content["data"]["image/png"] for content in contents if "image/png" in content.get("data", {})]
    return PlainResult(status, text, tuple(map(base64.b64decode, figures)))
