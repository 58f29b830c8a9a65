"""Plain Jupyter, started without isolation: the attacks are first shown to succeed against it."""

from __future__ import annotations

import os
import site
import subprocess
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

from sandbox import CellError, CellResult, Stream
from sandbox.policy import HostFunction

_INTERRUPT_S = 1.0
_START_S = 60.0
_CELL_S = 20.0


class PlainSession:
    """An ipykernel with all the rights of this user. A cell that cannot be interrupted leaves it stuck.

    home: stands for the home of this user, in whose own nothing is to be left. A thread of its own speaks to the
    kernel: jupyter_client is not safe across threads, and has an event loop in each.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._thread = ThreadPoolExecutor(1)
        self._is_stuck = False
        self._starting = self._thread.submit(self._start)

    def run(
        self,
        code: str,
        *,
        timeout_s: float | None = _CELL_S,
        functions: Mapping[str, HostFunction] | None = None,
    ) -> CellResult:
        """There is no host to call; attacks that need one are not run in here."""
        self._starting.result()
        return self._thread.submit(self._run, code, timeout_s).result()

    def close(self) -> None:
        self._thread.submit(self._stop).result()
        self._thread.shutdown()
        self._folder.cleanup()

    def _start(self) -> None:
        from jupyter_client.manager import KernelManager

        connection = Path(self._folder.name, "connection.json")
        self._manager = KernelManager(kernel_name="python3", connection_file=str(connection))
        work = Path(self._folder.name, "work")
        work.mkdir()
        self._manager.start_kernel(
            cwd=str(work), env=environment(self._home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=_START_S)

    def _run(self, code: str, timeout_s: float | None) -> CellResult:
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
            self._client.execute_interactive(code, allow_stdin=False, timeout=timeout_s, output_hook=take)
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


def environment(home: Path) -> dict[str, str]:
    """The variables of this process, with everything below another home."""
    # With this variable ipykernel leaves the descriptors 1 and 2 to pytest.
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    folders = {
        "HOME": home,
        "IPYTHONDIR": home / ".ipython",
        "JUPYTER_CONFIG_DIR": home / ".jupyter",
        "JUPYTER_DATA_DIR": home / ".local/share/jupyter",
        "JUPYTER_RUNTIME_DIR": home / ".local/share/jupyter/runtime",
        "MPLCONFIGDIR": home / ".config/matplotlib",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
    }
    packages = {"PYTHONUSERBASE": site.getuserbase()}  # where ipykernel itself may be
    return kept | packages | {name: str(path) for name, path in folders.items()}
