"""A second session beside the attacked one: it must keep its secret, and answer correctly and in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sandbox.policy import HostFunction
from sandbox.results import CellResult

_MAX_ANSWER_S = 5.0  # for a trivial cell, on a machine that is also busy with the attack
_PAUSE_S = 0.25
_GROWTH_BYTES = 256 * 2**20
_STORE_SECRET = """
import pathlib, tempfile
secret = {secret!r}
kept = pathlib.Path(tempfile.gettempdir(), "neighbour-" + secret[-8:])
kept.write_text(secret)
"""
_PRINT_SECRET = "print(secret); print(kept.read_text())"
_REMOVE_SECRET = "kept.unlink()"
_PEAK = threading.Lock()  # VmHWM is one value for the whole process, so only one attack is watched at a time


class AttackSession(Protocol):
    """The part of a Session that attacks need."""

    def run(
        self,
        code: str,
        *,
        timeout_s: float | None = None,
        functions: Mapping[str, HostFunction] | None = None,
    ) -> CellResult:
        """Never raises for what the cell does."""

    def close(self) -> None:
        """End it."""


class Watch:
    """Observes a neighbour while an attack runs; `harm` describes what went wrong, if anything."""

    def __init__(self) -> None:
        self.harm: str | None = None
        self._over = threading.Event()

    def end(self) -> None:
        """Stop after one more check."""
        self._over.set()

    def check(self, session: AttackSession) -> None:
        """Run a trivial cell again and again until `end`, and then once more."""
        last = False
        while not last and self.harm is None:
            last = self._over.wait(_PAUSE_S)
            started = time.monotonic()
            text = session.run("print(6 * 7)").text
            seconds = time.monotonic() - started
            if text != "42\n":
                self.harm = f"its neighbour printed {text[:60]!r}, not '42'"
            elif seconds > _MAX_ANSWER_S:
                self.harm = f"its neighbour answered after {seconds:.1f} s"


class Neighbour:
    """A session that holds a secret. Owns the session."""

    def __init__(self, session: AttackSession, secret: str) -> None:
        self._session = session
        self._secret = secret
        session.run(_STORE_SECRET.format(secret=secret))

    @contextmanager
    def monitor(self) -> Iterator[Watch]:
        """Check it continuously, and measure the peak memory of the host meanwhile."""
        watch = Watch()
        checking = threading.Thread(target=watch.check, args=(self._session,), name="neighbour")
        with _PEAK:
            before = _reset_peak()
            checking.start()
            try:
                yield watch
            finally:
                watch.end()
                checking.join()
            grown = _peak_bytes() - before
        if watch.harm is None and grown > _GROWTH_BYTES:
            watch.harm = f"the host grew by {grown // 2**20} MiB"

    def find_harm(self) -> str | None:
        """Whether its secret was changed."""
        text = self._session.run(_PRINT_SECRET).text
        return None if text == f"{self._secret}\n" * 2 else f"its neighbour's secrets became {text[:60]!r}"

    def close(self) -> None:
        """End it, and first remove its file, which without isolation is on the host."""
        try:
            self._session.run(_REMOVE_SECRET)
        finally:
            self._session.close()


def _reset_peak() -> int:
    """Reset the peak memory of this process to its current memory; returns it in bytes."""
    Path("/proc/self/clear_refs").write_text("5")  # proc(5)
    return _peak_bytes()


def _peak_bytes() -> int:
    """The peak memory of this process since the last `_reset_peak`."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024
