"""What attacks aim at on the host: canaries, which are planted for them and tell when one was touched."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from sandbox.escape_tests.files import Files
from sandbox.escape_tests.key import Key
from sandbox.escape_tests.listeners import Listeners
from sandbox.escape_tests.segments import PosixSegment, SystemVSegment
from sandbox.escape_tests.victims import Victims


class Canary(Protocol):
    """One thing of the host."""

    target: dict[str, Any]
    """What a program is told about it."""

    def harm(self, marker: str) -> str | None:
        """How it was touched, if it was; `marker` is what this attack writes or sends."""

    def close(self) -> None:
        """Remove it."""


class Canaries:
    """All of them. Secrets look alike, `canary-` and 32 hexadecimal digits; a program gets only their SHA-256."""

    def __init__(self) -> None:
        self.neighbour_secret = _secret()
        self._secret = _secret()
        self._name = f"SANDBOX_CHECK_{secrets.token_hex(4).upper()}"
        self._planted = ExitStack()
        self._all: tuple[Canary, ...] = ()
        self._plant()

    @property
    def target(self) -> dict[str, Any]:
        """What a program finds as TARGET."""
        told = {
            "secret_name": self._name,
            "secret_sha256": _sha256(self._secret),
            "neighbour_secret_sha256": _sha256(self.neighbour_secret),
            "host_pid": os.getpid(),
        }
        for canary in self._all:
            told |= canary.target
        return told

    def told_in(self, text: str) -> str | None:
        """Whether it holds a secret, of the host or of the neighbour."""
        kept = (self._secret, self.neighbour_secret, self._key.value)
        return "it printed a secret" if any(secret in text for secret in kept) else None

    def harm(self, marker: str) -> str | None:
        """How the host was touched, if it was; then every canary is planted anew."""
        found = next((told for canary in self._all if (told := canary.harm(marker))), None)
        if found is not None:
            self.close()
            self._plant()
        return found

    def close(self) -> None:
        """Remove them. Twice is once."""
        self._planted.close()

    def _plant(self) -> None:
        os.environ[self._name] = self._secret
        self._planted.callback(os.environ.pop, self._name)
        planted: list[Canary] = []
        for plant in (Files, SystemVSegment, PosixSegment, Victims):
            planted.append(plant(self._secret))
            self._planted.callback(planted[-1].close)
        self._key = Key()
        self._planted.callback(self._key.close)
        listeners = Listeners(Path(planted[0].target["outside"]))
        self._planted.callback(listeners.close)
        self._all = (*planted, self._key, listeners)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def _secret() -> str:
    return f"canary-{secrets.token_hex(16)}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
