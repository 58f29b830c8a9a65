"""A Sandbox opens Sessions under one Policy, limits their number, and keeps a warm pool of kernels."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.errors import SessionClosed
from sandbox.policy import Layer, Policy
from sandbox.runtime.engine import Engine
from sandbox.runtime.pool import SessionLimiter, WarmPool
from sandbox.session import Closing, ImageSource, Session

HELPERS = (
    Path(__file__).parent / "guest" / "frames"
)  # the package with the helpers of cells; also for notebooks


class Sandbox(Closing):
    """Opens isolated sessions under one Policy. Cheap to create, thread-safe; `close` ends every session.

    spare: how many kernels are kept ready. max_sessions: how many may be open at once. acquire_timeout_s: how long
    `open` waits for a session to be closed; None waits forever. max_memory_bytes: of all sessions together, without
    the host; by default four fifths of the machine's memory, or of what the cgroup of this process may use. Beyond it
    Linux (with cgroups) or the watchdog ends a session, whose cell reports OutOfMemory.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        spare: int = 0,
        max_sessions: int = 256,
        acquire_timeout_s: float | None = 60.0,
        max_memory_bytes: int | None = None,
        **renamed: Any,
    ) -> None:
        if renamed:  # names of version 0.1
            max_sessions = _pop_renamed(renamed, "most_sessions", "max_sessions", max_sessions)
            acquire_timeout_s = _pop_renamed(renamed, "wait_s", "acquire_timeout_s", acquire_timeout_s)
            if renamed:
                raise TypeError(f"Sandbox() has no argument {next(iter(renamed))!r}")
        for name, value, least in (("spare", spare, 0), ("max_sessions", max_sessions, 1)):
            if value < least:
                raise ValueError(f"Sandbox({name}={value}) is out of range; give {least} or more")
        self.policy = policy or Policy()
        self._spare = spare
        self._acquire_timeout_s = acquire_timeout_s
        self._max_memory_bytes = max_memory_bytes
        self._limiter = SessionLimiter(max_sessions)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._warm_pool: WarmPool | None = None
        self._sessions: set[Session] = set()
        self._closed = False

    def open(self, images: Mapping[str, ImageSource] | None = None) -> Session:
        """Start a kernel in which `images` are defined by name. The caller closes the session.

        Raises IsolationError, KernelStartError, ImageError, SandboxBusy or SessionClosed.
        """
        self._limiter.acquire(self._acquire_timeout_s)
        try:
            session = self._new_session()
        except BaseException:
            self._limiter.release()
            raise
        try:
            session.define(images or {})
        except BaseException:  # also on Ctrl-C: the caller has no session yet to close
            session.close()
            raise
        return session

    def warm_up(self) -> None:
        """Start what every session needs, without waiting, so that the first `open` is faster."""
        self._running_engine()

    def layers(self) -> tuple[Layer, ...]:
        """The mechanisms that isolate a cell from this machine. Raises IsolationError."""
        from sandbox.isolation.report import layers

        return layers(self._running_engine())

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries that its cells can import, by the names to import, as found in their interpreter.

        Not all of them: only those that are of use to code about images. Raises IsolationError.
        """
        return self._running_engine().confinement.interpreter.libraries

    def close(self) -> None:
        """End every session. May be called twice."""
        with self._lock:
            self._closed = True
            sessions = set(self._sessions)
            engine, self._engine = self._engine, None
            warm_pool, self._warm_pool = self._warm_pool, None
        for session in sessions:
            session.close()
        if warm_pool is not None:
            warm_pool.close()
        if engine is not None:
            engine.close()

    def _new_session(self) -> Session:
        engine = self._running_engine()
        kernel = (self._warm_pool.take() if self._warm_pool else None) or engine.start(engine.images_folder())
        session = Session(engine, self.policy, kernel, self._forget)
        with self._lock:
            if not self._closed:
                self._sessions.add(session)
                return session
        session.close()  # the sandbox was closed meanwhile
        raise _build_closed_error()

    def _running_engine(self) -> Engine:
        with self._lock:
            if self._closed:
                raise _build_closed_error()
            if self._engine is None:
                self._engine = Engine(self.policy, self._max_memory_bytes)
                self._warm_pool = WarmPool(self._engine, self._spare) if self._spare > 0 else None
            return self._engine

    def _forget(self, session: Session) -> None:
        with self._lock:
            self._sessions.discard(session)
        self._limiter.release()


def _pop_renamed(options: dict[str, Any], old: str, new: str, value: Any) -> Any:
    if old not in options:
        return value
    warnings.warn(f"Sandbox({old}=…) is now Sandbox({new}=…)", DeprecationWarning, stacklevel=3)
    return options.pop(old)


def _build_closed_error() -> SessionClosed:
    return SessionClosed("this sandbox is closed; make another one")
