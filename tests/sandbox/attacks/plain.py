"""Plain Jupyter, as anybody would start it: what the attacks are first shown to succeed against."""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from queue import Empty
from typing import Any

from sandbox import CellError, CellResult, Stream

_INTERRUPT_S = 1.0


class PlainSession:
    """An ipykernel with all the rights of this user. A cell that cannot be interrupted leaves it stuck.

    A thread of its own speaks to it: jupyter_client is not safe across threads, and has an event loop in each.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._thread = ThreadPoolExecutor(1)
        self._is_stuck = False
        self._thread.submit(self._start).result()

    def run(self, code: str) -> CellResult:
        return self._thread.submit(self._run, code).result()

    def close(self) -> None:
        self._thread.submit(self._stop).result()
        self._thread.shutdown()
        self._folder.cleanup()

    def _start(self) -> None:
        from jupyter_client.manager import start_new_kernel

        # With this variable ipykernel leaves the descriptors 1 and 2 to pytest.
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        self._manager, self._client = start_new_kernel(
            kernel_name="python3", cwd=self._folder.name, env=environment
        )

    def _run(self, code: str) -> CellResult:
        if self._is_stuck:
            return CellResult("timeout")
        started = time.monotonic()
        outputs: list[Stream] = []
        errors: list[CellError] = []

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    outputs.append(Stream(content["name"], content["text"]))
                case "error":
                    errors.append(CellError(content["ename"], content["evalue"]))

        try:
            self._client.execute_interactive(
                code, allow_stdin=False, timeout=self._timeout_s, output_hook=take
            )
        except (TimeoutError, Empty, RuntimeError):  # too late, or the kernel ended
            self._interrupt()
        error = errors[0] if errors else None
        return CellResult("error" if error else "ok", tuple(outputs), error, time.monotonic() - started)

    def _interrupt(self) -> None:
        if self._manager.is_alive():
            self._manager.interrupt_kernel()
        try:
            self._client.execute_interactive("0", timeout=_INTERRUPT_S, output_hook=lambda message: None)
        except (TimeoutError, Empty, RuntimeError):
            self._is_stuck = True

    def _stop(self) -> None:
        from jupyter_core.utils import ensure_event_loop

        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        ensure_event_loop().close()
