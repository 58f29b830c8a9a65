"""A second session beside the one that is attacked: it must keep its secret, and answer right and in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sandbox.protocol.rpc import HostFunction
from sandbox.results import CellResult

_PATIENCE_S = 5.0  # for a trivial cell, on a machine that is also busy with the attack
_PAUSE_S = 0.25
_GROWTH_BYTES = 256 * 2**20
_KEEP = """
import pathlib
secret = {secret!r}
kept = pathlib.Path("/tmp/neighbour-" + secret[-8:])
kept.write_text(secret)
"""
_TELL = "print(secret); print(kept.read_text())"
_LEAVE = "kept.unlink()"
_PEAK = threading.Lock()  # there is one for the whole process, so one may be watched at a time


class AttackSession(Protocol):
    """What attacks, and this, need of a session."""

    def run(self, code: str, *, functions: Mapping[str, HostFunction] | None = None) -> CellResult:
        """Never raises for what the cell does."""

    def close(self) -> None:
        """End it."""


class Watch:
    """What was seen of a neighbour while an attack ran; `harm` is told in the end."""

    def __init__(self) -> None:
        self.harm: str | None = None
        self._over = threading.Event()

    def end(self) -> None:
        """Ask once more, and no more."""
        self._over.set()

    def ask(self, session: AttackSession) -> None:
        """Ask it until the end, and then once more."""
        last = False
        while not last and self.harm is None:
            last = self._over.wait(_PAUSE_S)
            started = time.monotonic()
            text = session.run("print(6 * 7)").text
            seconds = time.monotonic() - started
            if text != "42\n":
                self.harm = f"its neighbour printed {text[:60]!r}, not '42'"
            elif seconds > _PATIENCE_S:
                self.harm = f"its neighbour answered after {seconds:.1f} s"


class Neighbour:
    """Takes a session over."""

    def __init__(self, session: AttackSession, secret: str) -> None:
        self._session = session
        self._secret = secret
        session.run(_KEEP.format(secret=secret))

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """Ask it all the time, and see how much memory the host has at most meanwhile."""
        watch = Watch()
        asking = threading.Thread(target=watch.ask, args=(self._session,), name="neighbour")
        with _PEAK:
            before = _forget_peak()
            asking.start()
            try:
                yield watch
            finally:
                watch.end()
                asking.join()
            grown = _peak_bytes() - before
        if watch.harm is None and grown > _GROWTH_BYTES:
            watch.harm = f"the host grew by {grown // 2**20} MiB"

    def find_harm(self) -> str | None:
        """Whether what it keeps is no longer what it was given."""
        text = self._session.run(_TELL).text
        return None if text == f"{self._secret}\n" * 2 else f"its neighbour's secrets became {text[:60]!r}"

    def close(self) -> None:
        """End it; its file goes first, which without isolation is one of the host's."""
        try:
            self._session.run(_LEAVE)
        finally:
            self._session.close()


def _forget_peak() -> int:
    """Let the most memory that this process ever had be what it has now; as bytes."""
    Path("/proc/self/clear_refs").write_text("5")  # proc(5)
    return _peak_bytes()


def _peak_bytes() -> int:
    """The most memory that this process had since the last `_forget_peak`."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024
