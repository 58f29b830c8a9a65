"""What one question may spend, and has spent so far."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from pyvision.agent.context import PackedRequest
from pyvision.errors import EndReason, LimitReached
from pyvision.types import Usage

if TYPE_CHECKING:
    from pyvision.config.prices import Price

_NEARLY = 0.9  # the share of a budget after which the next reply must be the last


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one question; None means no limit.

    A turn is a reply to the strategy, in whichever role; a model that a tool asks takes no turn, but counts otherwise.
    Tokens count input and output of every reply. A picture counts once, however often the conversation that holds it
    is sent; bytes count every time, pictures as base64. Cost is in the currency of the price table. Pictures, bytes
    and uses of tools are known beforehand and never exceeded, the others by at most the current call.
    """

    max_turns: int = 20
    max_tokens: int | None = 2_000_000
    max_seconds: float | None = 1800.0
    max_pictures: int | None = None
    max_bytes: int | None = None
    max_cost: float | None = None
    max_uses: int | None = 500


@dataclass(frozen=True, slots=True)
class _Meter:
    """One budget: what it counts, how much of it is spent, and the flag that allows more."""

    reason: EndReason
    unit: str
    spent: float
    limit: float | None
    flag: str

    def check(self, more: float = 0) -> None:
        """Raises LimitReached when the budget is spent, or does not hold so much more."""
        if self.limit is None or (self.spent < self.limit and self.spent + more <= self.limit):
            return
        spent = f"{_round(self.spent)} of {self.limit:,.6g} {self.unit} are spent"
        needed = f" and {more:,.6g} more are needed" if more else ""
        raise LimitReached(self.reason, f"{spent}{needed}; allow more with {self.flag}")

    @property
    def is_nearly_spent(self) -> bool:
        return self.limit is not None and self.spent >= _NEARLY * self.limit


def _round(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


class Budget:
    """Counts what a question spends. `cost` stays None until a reply had a price.

    deadline: of time.monotonic(), when the time is spent.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.usage = Usage()
        self._tokens = 0
        self.turns = 0
        self.uses = 0
        self.bytes = 0
        self.cost: float | None = None
        self._pictures: set[str] = set()
        self._request_bytes = 0  # of the latest one
        self._began = time.monotonic()
        self.deadline = self._began + (inf if limits.max_seconds is None else limits.max_seconds)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def turns_left(self) -> int:
        return self.limits.max_turns - self.turns

    def check(self, *, for_tool: bool = False) -> float | None:
        """The seconds that are left for one more reply, None without a limit; a tool may ask after the last turn too.

        Raises LimitReached when nothing is left to ask a model with.
        """
        turns, *others = self._meters_of_replies()
        time_meter = self._time_meter()
        for meter in (*(() if for_tool else (turns,)), *others, time_meter):
            meter.check()
        return None if time_meter.limit is None else time_meter.limit - time_meter.spent

    def use(self) -> None:
        """Count the use of a tool. Raises LimitReached when no more are left."""
        _Meter("tool_limit", "uses of tools", self.uses, self.limits.max_uses, "--max-uses").check()
        self.uses += 1

    def check_time(self) -> None:
        """Raises LimitReached when the time is spent."""
        self._time_meter().check()

    def send(self, request: PackedRequest) -> None:
        """Count a request that is about to go out. Raises LimitReached when it would overshoot a budget."""
        pictures = {sent.sha256 for sent in request.sent}
        if new := pictures - self._pictures:
            self._picture_meter().check(more=len(new))
        self._byte_meter().check(more=request.size_bytes)
        self._pictures |= pictures
        self.bytes += request.size_bytes
        self._request_bytes = request.size_bytes

    def receive(self, usage: Usage, price: Price | None, *, for_tool: bool = False) -> None:
        """Count a reply."""
        self.turns += not for_tool
        self.usage += usage
        self._tokens += usage.total
        if price is not None:
            self.cost = (self.cost or 0.0) + price.of(usage)

    def nearly_spent(self) -> EndReason | None:
        """The budget that allows only one more reply, or None while there is room for more."""
        if self.turns_left <= 1:
            return "turn_limit"
        most = self.limits.max_bytes
        if most is not None and self.bytes + 2 * self._request_bytes > most:  # requests only grow
            return "byte_limit"
        _, *meters = self._meters_of_replies()
        meters += [self._picture_meter(), self._time_meter()]
        return next((meter.reason for meter in meters if meter.is_nearly_spent), None)

    def _meters_of_replies(self) -> tuple[_Meter, ...]:
        limits = self.limits
        return (
            _Meter("turn_limit", "turns", self.turns, limits.max_turns, "--max-turns"),
            _Meter("token_limit", "tokens", self._tokens, limits.max_tokens, "--max-tokens"),
            _Meter("cost_limit", "currency units", self.cost or 0.0, limits.max_cost, "--max-cost"),
        )

    def _picture_meter(self) -> _Meter:
        spent = len(self._pictures)
        return _Meter("picture_limit", "pictures", spent, self.limits.max_pictures, "--max-pictures")

    def _byte_meter(self) -> _Meter:
        return _Meter("byte_limit", "bytes", self.bytes, self.limits.max_bytes, "--max-bytes")

    def _time_meter(self) -> _Meter:
        return _Meter("time_limit", "seconds", self.seconds, self.limits.max_seconds, "--max-seconds")
