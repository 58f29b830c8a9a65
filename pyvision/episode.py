"""All that a strategy may touch while it answers one question; budgets and record are kept here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pyvision.errors import ImageError, LimitReached
from pyvision.events import Asked, Defined, Event, Noted, Ran
from pyvision.images import decode, fit
from pyvision.types import EndReason, Message, Model, Picture, Question, Reply, Sampling, Usage
from sandbox import CellResult, Figure

DEFAULT_ROLE = "default"
_NEARLY = 0.9  # the share of a token or time budget after which the next reply has to be the last


class Session(Protocol):
    """One kernel with the images of one question in it; `sandbox.Session` is one."""

    def run(self, code: str) -> CellResult: ...

    def define(self, images: Mapping[str, bytes]) -> None: ...

    def close(self) -> None: ...


class Sandbox(Protocol):
    """Where sessions come from; `sandbox.Sandbox` is one."""

    def warm_up(self) -> None: ...

    def open(self, images: Mapping[str, bytes]) -> Session: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one question. Tokens count input and output of every reply; None means no limit.

    A budget is looked at before each verb, so it can be overshot by the one call that was under way.
    """

    max_turns: int = 20
    max_tokens: int | None = 2_000_000
    max_seconds: float | None = 1800.0


class Episode:
    """The verbs of a strategy: ask a model, run a cell, name a figure, note a remark.

    Opens the kernel on the first `run` and holds it until `close`. Every verb becomes an event. Used by one
    thread at a time, but for `stop`.
    """

    def __init__(
        self,
        question: Question,
        models: Mapping[str, Model],
        limits: Limits,
        sandbox: Sandbox,
        watch: Callable[[Event], None],
    ) -> None:
        self.question = question
        self.limits = limits
        self.usage = Usage()
        self.turns = 0
        self.cells = 0
        self._models = models
        self._sandbox = sandbox
        self._watch = watch
        self._session: Session | None = None
        self._names = len(question.images)
        self._stopped = threading.Event()
        self._began = time.monotonic()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def turns_left(self) -> int:
        return self.limits.max_turns - self.turns

    def ask(self, role: str, messages: Sequence[Message], *, stop: tuple[str, ...] = ()) -> Reply:
        """One reply of the model that plays this role; pictures go out fitted to what endpoints accept.

        Raises LimitReached when a budget is spent, ModelError when the endpoint fails.
        """
        self._check_budget()
        model = self._models.get(role) or self._models[DEFAULT_ROLE]
        sent = tuple(_fitted(message) for message in messages)
        began = time.monotonic()
        reply = model.complete(sent, Sampling(stop=stop))
        self.turns += 1
        self.usage += reply.usage
        self._watch(Asked(role, model.name, sent, reply, time.monotonic() - began))
        return reply

    def expect_code(self) -> None:
        """Say that cells will follow: what they need starts while the model thinks.

        Raises sandbox.SandboxError where nothing can run, before the model was paid for.
        """
        self._sandbox.warm_up()

    def run(self, code: str) -> CellResult:
        """Run one cell in the question's kernel, which holds its images. What the code does is data.

        Raises LimitReached when time is spent, sandbox.SandboxError when no kernel can be had.
        """
        self._check_time()
        session = self._open_session()
        self._check_time()  # opening took a while
        result = session.run(code)
        self.cells += 1
        self._watch(Ran(code, result))
        return result

    def define(self, figures: Sequence[Figure]) -> tuple[tuple[str, Picture], ...]:
        """Give figures the next free names `image_clue_k`, as variables in the kernel too.

        A figure that turns out not to be a picture is left out and noted.
        """
        named: list[tuple[str, Picture]] = []
        for figure in figures:
            try:
                picture = decode(figure.data, "figure")
            except ImageError as error:
                self.note("figure_refused", why=str(error))
                continue
            name = f"image_clue_{self._names}"
            self._names += 1
            self._open_session().define({name: picture.data})
            self._watch(Defined(name, picture))
            named.append((name, picture))
        return tuple(named)

    def note(self, label: str, **data: Any) -> None:
        """Record something about the strategy's own course; the data must be plain values."""
        self._watch(Noted(label, data))

    def last_call(self) -> EndReason | None:
        """The budget that allows only one more reply, or None while there is room for more."""
        if self.turns_left <= 1:
            return "turn_limit"
        if self.limits.max_tokens is not None and self.usage.total >= _NEARLY * self.limits.max_tokens:
            return "token_limit"
        if self.limits.max_seconds is not None and self.seconds >= _NEARLY * self.limits.max_seconds:
            return "time_limit"
        return None

    def stop(self) -> None:
        """End the episode from another thread: its kernel goes, also in mid-cell, and the next verb raises."""
        self._stopped.set()
        self.close()

    def close(self) -> None:
        """End the kernel, if there is one."""
        if self._session is not None:
            self._session.close()

    def _open_session(self) -> Session:
        if self._session is None:
            pictures = self.question.images
            self._session = self._sandbox.open({f"image_clue_{i}": p.data for i, p in enumerate(pictures)})
        return self._session

    def _check_budget(self) -> None:
        if self.turns_left <= 0:
            raise LimitReached(
                "turn_limit", f"{self.limits.max_turns} turns are spent; allow more: --max-turns"
            )
        if self.limits.max_tokens is not None and self.usage.total >= self.limits.max_tokens:
            spent = f"{self.usage.total:,} of {self.limits.max_tokens:,} tokens are spent"
            raise LimitReached("token_limit", f"{spent}; allow more with --max-tokens")
        self._check_time()

    def _check_time(self) -> None:
        if self.is_stopped:
            raise LimitReached("interrupted", "stopped by the caller")
        if self.limits.max_seconds is not None and self.seconds >= self.limits.max_seconds:
            raise LimitReached(
                "time_limit", f"{self.limits.max_seconds:g} seconds are spent; allow more with --max-seconds"
            )


def _fitted(message: Message) -> Message:
    if not any(isinstance(part, Picture) for part in message.parts):
        return message
    parts = tuple(fit(part).picture if isinstance(part, Picture) else part for part in message.parts)
    return replace(message, parts=parts)
