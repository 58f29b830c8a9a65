"""Why a run ended, in words, and whose fault it is when there is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.errors import EndReason

Fault: TypeAlias = Literal["nobody", "model", "limit", "endpoint", "machine", "caller", "program"]


@dataclass(frozen=True, slots=True)
class Ending:
    """fault: of `endpoint`, `machine`, `caller` and `program` a model must not be scored or trained."""

    fault: Fault
    words: str

    @property
    def is_of_the_model(self) -> bool:
        return self.fault in ("nobody", "model", "limit")


ENDINGS: Mapping[EndReason, Ending] = {
    "answered": Ending("nobody", "answered"),
    "no_answer": Ending("model", "the model ended without an answer"),
    "refused": Ending("model", "the model declined, or a content filter did"),
    "truncated": Ending("model", "the reply was cut at its length limit, twice"),
    "loop": Ending("model", "the same cell failed in the same way again and again"),
    "turn_limit": Ending("limit", "all turns were used"),
    "token_limit": Ending("limit", "all tokens were used"),
    "time_limit": Ending("limit", "the time was up"),
    "picture_limit": Ending("limit", "all pictures that could be sent were sent"),
    "byte_limit": Ending("limit", "all bytes that could be sent were sent"),
    "tool_limit": Ending("limit", "the uses of tools were spent"),
    "cost_limit": Ending("limit", "the money was spent"),
    "context_overflow": Ending("limit", "the conversation is longer than the model can read"),
    "model_error": Ending("endpoint", "the model endpoint failed"),
    "sandbox_error": Ending("machine", "no isolated kernel could be had"),
    "interrupted": Ending("caller", "stopped by the caller"),
    "error": Ending("program", "an error of the program or its settings"),
}
UNFINISHED = Ending("machine", "the record breaks off: the run was killed or still goes on")


def ending(reason: EndReason | None) -> Ending:
    """What an end reason means; None is a run that has not ended."""
    return ENDINGS.get(reason, UNFINISHED) if reason else UNFINISHED
