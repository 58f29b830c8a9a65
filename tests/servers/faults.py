"""Everything that goes wrong with an endpoint, as named rows; and when: by plan, or by chance with a seed."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.servers.conversation import Failure, Oddity

Ending = Literal["whole", "closed", "reset", "stalled", "held"]


@dataclass(frozen=True, slots=True)
class Fault:
    """How one answer goes wrong.

    failure: an error status, worded by the wire. body: bytes in place of any answer, with `status`.
    oddity: a 200 that holds no reply. delay_s: before the first byte. trickle_s: between single bytes of the body.
    header_trickle_s: the same for the headers, which never end. share: how much of the answer is sent, and `ending`:
    what happens to the connection then; "held": the answer of the brain, left open until the client closes it.
    rewrite: a pattern in the answer and what stands there instead.
    filler: sent again and again behind a 200 that promises a stream of events, until the client goes away. twice:
    which pieces of a stream are sent twice.
    """

    failure: Failure | None = None
    body: bytes | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    oddity: Oddity | None = None
    delay_s: float = 0.0
    trickle_s: float = 0.0
    header_trickle_s: float = 0.0
    share: float = 1.0
    ending: Ending = "whole"
    rewrite: tuple[bytes, bytes] | None = None
    filler: bytes = b""
    twice: range = range(0)


def _status(status: int, message: str, code: str = "", **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(Failure(status, message, code), status=status, headers=named)


_COUNTS = rb'("(?:(?:prompt|completion|input|output|total)_tokens|[a-zA-Z]+TokenCount)": )\d+'
_LONG_S = 30.0  # longer than any client in a test waits; a closing server ends it

FAULTS: Mapping[str, Fault] = {
    # the endpoint is busy, or ill: worth another try
    "429": _status(429, "Rate limit reached", "rate_limit_exceeded"),
    "429 retry-after": _status(429, "Rate limit reached", "rate_limit_exceeded", retry_after="0.02"),
    "429 huge retry-after": _status(429, "Rate limit reached", "rate_limit_exceeded", retry_after="86400"),
    "429 retry-after 0": _status(429, "Rate limit reached", "rate_limit_exceeded", retry_after="0"),
    "429 retry-after -5": _status(429, "Rate limit reached", "rate_limit_exceeded", retry_after="-5"),
    "429 retry-after nan": _status(429, "Rate limit reached", "rate_limit_exceeded", retry_after="nan"),
    "408": _status(408, "Request timeout"),
    "409": _status(409, "Conflict"),
    "500": _status(500, "The server had an error"),
    "502 html": Fault(
        body=b"<html><h1>502 Bad Gateway</h1></html>", status=502, headers={"content-type": "text/html"}
    ),
    "503": _status(503, "Overloaded"),
    "529": _status(529, "Overloaded"),
    # the connection
    "slow first byte": Fault(delay_s=_LONG_S),
    "stalled": Fault(share=0.5, ending="stalled"),
    "cut": Fault(share=0.5, ending="closed"),
    "reset": Fault(share=0.0, ending="reset"),
    "reset half way": Fault(share=0.5, ending="reset"),
    "closed without an answer": Fault(share=0.0, ending="closed"),
    "trickle": Fault(trickle_s=0.05),
    "trickling headers": Fault(header_trickle_s=0.05),
    # too much
    "huge headers": Fault(body=b"{}", headers={"x-long": "x" * 200_000}),
    "huge error": Fault(body=b"e" * 300_000, status=500),
    "huge event": Fault(filler=b"x" * (1 << 20)),
    "many values": Fault(body=b"[" + b"[]," * 200_000 + b"[]]"),
    "packed bomb": Fault(body=gzip.compress(b" " * (17 << 20)), headers={"content-encoding": "gzip"}),
    "unknown encoding": Fault(body=b"{}", headers={"content-encoding": "br"}),
    "charset of no text": Fault(
        body=b"<h1>no</h1>", status=502, headers={"content-type": "text/html; charset=zlib"}
    ),
    "deep error": Fault(body=b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}", status=500),
    # a 200 that is none
    "200 html": Fault(body=b"<html>sign in to the wifi</html>", headers={"content-type": "text/html"}),
    "200 broken json": Fault(
        body=b'{"id": "c", "choices": [{"mess', headers={"content-type": "application/json"}
    ),
    "200 empty": Fault(body=b"", headers={"content-type": "application/json"}),
    "200 invalid utf-8": Fault(rewrite=(rb'("model(?:Version)?"): "m"', b'\\1: "\xff"')),
    "200 error body": Fault(Failure(200, "upstream provider failed", "server_error")),
    "wrong types": Fault(oddity="wrong types"),
    "no choices": Fault(oddity="no choices"),
    "null content": Fault(oddity="null content"),
    # nothing that another try would mend
    "only a tool call": Fault(oddity="only a tool call"),
    "quota": _status(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "401": _status(401, "Incorrect API key provided", "invalid_api_key"),
    "403": _status(403, "You are not allowed to use this model", "permission_denied"),
    "model not found": _status(404, "The model `m` does not exist", "model_not_found"),
    "413": _status(413, "Request too large"),
    "context overflow": _status(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens: "
        "prompt is too long. Please reduce the length of the messages.",
        "context_length_exceeded",
    ),
    "400": _status(400, "Invalid image data", "invalid_value"),
    # an answer all the same
    "usage of 2^63": Fault(rewrite=(_COUNTS, rb"\g<1>9223372036854775808")),
    "negative usage": Fault(rewrite=(_COUNTS, rb"\g<1>-7")),
    "repeated chunks": Fault(twice=range(3, 7)),
}

# What a busy endpoint does to a client that tries again; chosen from by `Rate`.
PASSING = tuple(
    name for name in FAULTS if name in {
        "429", "429 retry-after", "500", "502 html", "503", "529", "cut", "reset", "reset half way",
        "closed without an answer", "200 html", "200 broken json", "200 empty", "200 error body", "wrong types",
        "no choices", "null content", "huge headers", "huge error", "huge event", "many values", "packed bomb",
        "unknown encoding", "charset of no text", "deep error", "200 invalid utf-8", "429 retry-after 0",
        "429 retry-after -5", "429 retry-after nan",
    }
)  # fmt: skip


class Weather(Protocol):
    """Which fault befalls the n-th request, counted from 0; None is none."""

    def __call__(self, number: int) -> Fault | None: ...


def fair(number: int) -> Fault | None:
    """No fault, ever."""
    return None


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of the first requests, by name, in turn; then `after`, for ever. None is a whole answer."""

    faults: Sequence[str | Fault | None]
    after: str | None = None

    def __call__(self, number: int) -> Fault | None:
        chosen = self.faults[number] if number < len(self.faults) else self.after
        return FAULTS[chosen] if isinstance(chosen, str) else chosen


@dataclass(frozen=True, slots=True)
class Rate:
    """Each request fails with this probability, by a fault of `names`; the seed decides which, for ever."""

    share: float
    seed: int = 0
    names: Sequence[str] = PASSING

    def __call__(self, number: int) -> Fault | None:
        dice = random.Random(f"{self.seed}:{number}")
        return FAULTS[dice.choice(self.names)] if dice.random() < self.share else None
