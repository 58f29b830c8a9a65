"""The models of one question by role: pack a request, read the stream, count and record the reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pyvision.agent.budget import Budget
from pyvision.agent.context import ContextWindow, PackedRequest
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import LimitReached, ModelError
from pyvision.events import Event, ModelCall, Note, ReplyRestarted, Sent, TextDelta
from pyvision.models.cancellation import Cancellation, PendingWork, interruptible
from pyvision.models.streaming import stream_of
from pyvision.types import Message, Model, Reply, Restart, Sampling

if TYPE_CHECKING:
    from pyvision.config.prices import Price

DEFAULT_ROLE = "default"


@dataclass(slots=True)
class RoleModels:
    """Asks the model of a role, within the budget, and records what it was sent and what it replied.

    models: role -> model; `default` plays every role that is not named. accepts: role -> what its endpoint takes.
    prices: model name -> price. originals: the k of each `image_clue_k` that a person gave. sent_images: the images by
    name, each as a model saw it last.
    """

    models: Mapping[str, Model]
    accepts: Mapping[str, EndpointLimits]
    prices: Mapping[str, Price]
    originals: Collection[int]
    budget: Budget
    cancellation: Cancellation
    waiting: PendingWork
    watch: Callable[[Event], None]
    sent_images: dict[str, Sent] = field(default_factory=dict)
    _windows: dict[str, ContextWindow] = field(default_factory=dict)
    _foreign: set[str] = field(default_factory=set)

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling, *, for_tool: bool = False
    ) -> Reply:
        """One reply, recorded as a ModelCall. Raises LimitReached and ModelError.

        for_tool: the request of a tool, which is no turn of the strategy.
        """
        self.cancellation.check()
        seconds_left = self.budget.check(for_tool=for_tool)
        name = self.model_of(role).name
        began = time.monotonic()
        sampling = replace(sampling, seconds=seconds_left)
        request, reply = self._reply(role, messages, sampling, for_tool=for_tool)
        self.budget.receive(reply.usage, self.prices.get(name), for_tool=for_tool)
        seconds = time.monotonic() - began
        if not for_tool:
            self.sent_images.update((sent.name, sent) for sent in request.sent if sent.name)
        tools = tuple(offer.name for offer in sampling.tools)
        self.watch(ModelCall(role, name, request.messages, reply, seconds, request.sent, tools, for_tool))
        return reply

    def window(self, role: str) -> ContextWindow:
        """What packs the conversations of this role."""
        if role not in self._windows:
            accepts = self.accepts.get(role if role in self.models else DEFAULT_ROLE, EndpointLimits())
            self._windows[role] = ContextWindow(accepts, self.originals)
        return self._windows[role]

    def model_of(self, role: str) -> Model:
        """The model that plays this role."""
        return self.models.get(role) or self.models[DEFAULT_ROLE]

    def _reply(
        self,
        role: str,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        for_tool: bool,
        again: bool = True,
    ) -> tuple[PackedRequest, Reply]:
        """The request and its reply; sent again, smaller, if the endpoint said that it was too large."""
        request = self._pack(role, messages)
        try:
            return request, self._listen(role, request.messages, sampling, for_tool=for_tool)
        except ModelError as error:
            if again and self.window(role).evict(error, messages):
                return self._reply(role, messages, sampling, for_tool=for_tool, again=False)
            self.cancellation.check()
            self.budget.check_time()  # a failure because our time is up is not the fault of the endpoint
            if error.kind == "context":
                raise LimitReached("context_overflow", str(error)) from error
            raise

    def _pack(self, role: str, messages: Sequence[Message]) -> PackedRequest:
        request = self.window(role).pack(messages)
        if request.evicted:
            self.watch(Note("left_out", {"role": role, "pictures": list(request.evicted)}))
        self._note_foreign(role, request)
        self.budget.send(request)
        return request

    def _note_foreign(self, role: str, request: PackedRequest) -> None:
        """Note once that opaque content of another model or API is not sent."""
        reads = self.window(role).accepts.reads
        sources = {message.opaque.source for message in request.messages if message.opaque}
        foreign = sources - {reads} - self._foreign if reads else set()
        if foreign:
            self._foreign |= foreign
            self.watch(Note("opaque_dropped", {"role": role, "sources": sorted(foreign)}))

    def _listen(self, role: str, messages: Sequence[Message], sampling: Sampling, *, for_tool: bool) -> Reply:
        model = self.model_of(role)
        stream = partial(stream_of, model, messages, sampling)
        with self.waiting(model.name), closing(interruptible(stream, self.cancellation)) as pieces:
            for piece in pieces:
                if isinstance(piece, Reply):
                    return piece
                if time.monotonic() >= self.budget.deadline:  # a caller's model may ignore `Sampling.seconds`
                    self.budget.check_time()
                self.watch(
                    self._restart(role, model, piece)
                    if isinstance(piece, Restart)
                    else TextDelta(role, piece, for_tool)
                )
        raise ModelError(f"{model.name}: the stream ended without a reply", retry=True)

    def _restart(self, role: str, model: Model, restart: Restart) -> ReplyRestarted:
        event = ReplyRestarted(role, restart.why, restart.attempt, restart.wait_s)
        self.waiting.what = f"{model.name} ({event.notice})" if event.notice else model.name
        return event
