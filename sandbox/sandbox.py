"""A Sandbox opens Sessions under one Policy: so many at once, some of them before they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from sandbox.runtime.engine import Engine
from sandbox.errors import SessionClosed
from sandbox.runtime.images import ImageSource
from sandbox.isolation.report import Layer, layers
from sandbox.runtime.limiter import Places
from sandbox.policy import Policy
from sandbox.session import Session
from sandbox.runtime.warm_pool import Spares


class Sandbox:
    """Opens isolated sessions under one Policy. Cheap to make, thread-safe; `close` ends every session.

    spare: kernels that are kept ready. most_sessions: how many may be open at once. wait_s: how long `open`
    waits for one of them to be closed; None is for ever.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        spare: int = 0,
        most_sessions: int = 256,
        wait_s: float | None = 60.0,
    ) -> None:
        self.policy = policy or Policy()
        self._spare = spare
        self._wait_s = wait_s
        self._places = Places(most_sessions)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._spares: Spares | None = None
        self._sessions: set[Session] = set()
        self._closed = False

    def open(self, images: Mapping[str, ImageSource] | None = None) -> Session:
        """A new kernel that holds `images` under their names. The caller closes it.

        Raises IsolationError, KernelStartError, ImageError, SandboxBusy or SessionClosed.
        """
        self._places.take(self._wait_s)
        try:
            session = self._new_session()
        except BaseException:
            self._places.give_back()
            raise
        try:
            session.define(images or {})
        except BaseException:  # also on Ctrl-C: the caller has nothing yet that could be closed
            session.close()
            raise
        return session

    def warm_up(self) -> None:
        """Start what every session needs, without waiting for it: the first `open` has less to do then."""
        self._running_engine()

    def layers(self) -> tuple[Layer, ...]:
        """What stands between a cell and this machine. Raises IsolationError."""
        return layers(self._running_engine())

    def close(self) -> None:
        """End every session. Twice is once."""
        with self._lock:
            self._closed = True
            sessions = set(self._sessions)
            engine, self._engine = self._engine, None
            spares, self._spares = self._spares, None
        for session in sessions:
            session.close()
        if spares is not None:
            spares.close()
        if engine is not None:
            engine.close()

    def _new_session(self) -> Session:
        engine = self._running_engine()
        kernel = (self._spares.take() if self._spares else None) or engine.start(engine.images_folder())
        session = Session(engine, self.policy, kernel, self._forget)
        with self._lock:
            if not self._closed:
                self._sessions.add(session)
                return session
        session.close()  # the sandbox was closed meanwhile
        raise _closed()

    def _running_engine(self) -> Engine:
        with self._lock:
            if self._closed:
                raise _closed()
            if self._engine is None:
                self._engine = Engine(self.policy)
                self._spares = Spares(self._engine, self._spare) if self._spare > 0 else None
            return self._engine

    def _forget(self, session: Session) -> None:
        with self._lock:
            self._sessions.discard(session)
        self._places.give_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def _closed() -> SessionClosed:
    return SessionClosed("this sandbox is closed; make another one")
