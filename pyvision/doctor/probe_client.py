"""The model that is examined: asked over its own wire, a bounded number of times, with a body of our choice."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.factory import build
from pyvision.models.streaming import close_model
from pyvision.types import Message, Model, Part, Reply, Restart, Sampling

_RETRY_S = 15.0  # a person waits
_NOTHING_SET = Sampling()


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """A reply, and in how many pieces its text came."""

    reply: Reply
    pieces: int

    @property
    def text(self) -> str:
        return self.reply.text


class ProbeClient:
    """One model behind one endpoint, and how many calls are left to find out about it. To be closed."""

    def __init__(self, config: ModelConfig, calls: int) -> None:
        self.calls_left = calls
        self.config = replace(
            config, retry_s=min(config.retry_s, _RETRY_S), temperature=None, max_tokens=None
        )
        self._models: dict[str, Model] = {}

    def ask(self, messages: Sequence[Message], sampling: Sampling = _NOTHING_SET, **body: Any) -> ProbeReply:
        """One reply; `body` goes into the request as it stands, so that the wire drops none of it.

        Raises ModelError, at once where another try would not help.
        """
        self.calls_left -= 1
        model = self._model(body)
        pieces = 0
        for piece in model.stream(messages, sampling):
            match piece:
                case Reply():
                    return ProbeReply(piece, pieces)
                case Restart():
                    pieces = 0
                case _:
                    pieces += 1
        raise ModelError(f"{model.name}: the stream ended without a reply", retry=True)

    def close(self) -> None:
        """Close every connection."""
        for model in self._models.values():
            close_model(model)

    def _model(self, body: dict[str, Any]) -> Model:
        """One model, with one client, for each body that is sent along."""
        key = json.dumps(body, sort_keys=True)
        if key not in self._models:
            self._models[key] = build(replace(self.config, extra_body=self.config.extra_body | body))
        return self._models[key]


def turn(*parts: Part) -> tuple[Message, ...]:
    """A conversation of one user turn."""
    return (Message("user", parts),)


def complaint(error: ModelError) -> str:
    """What the endpoint said, without the name of the model and the address: they stand above the table."""
    return re.sub(r"^\S* at \S+: ", "", str(error))


def quote_start(text: str) -> str:
    """The beginning of a reply, on one line."""
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:80] + "…")


# ---- What the doctor found out: one finding for each thing looked at, as a table and as plain values.


Verdict: TypeAlias = Literal["yes", "no", "refused", "unclear", "not applicable", "not tried"]
Subject: TypeAlias = Literal[
    "isolation",
    "kernel",
    "CJK fonts",
    "disk",
    "reachable",
    "streams",
    "stop",
    "temperature",
    "token limit",
    "log probabilities",
    "sees a picture",
    "smallest numeral",
    "sees later pictures",
    "sees many at once",
    "box coordinates",
    "writes <code> cells",
]

_WIDTH = 80
_SUBJECT, _VERDICT = 24, 15  # columns; what is left is the detail's


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table. `value` is what a program would want to know of it."""

    subject: Subject
    verdict: Verdict
    detail: str = ""
    value: str | int | float | None = None


def table(sections: Sequence[tuple[str, Sequence[Finding]]]) -> str:
    """Every section under its title, no line wider than 80 columns."""
    lines: list[str] = []
    for title, findings in sections:
        lines += ["", *textwrap.wrap(title, _WIDTH)] if lines else textwrap.wrap(title, _WIDTH)
        for finding in findings:
            lines += _rows(finding)
    return "\n".join(lines)


def _rows(finding: Finding) -> list[str]:
    """The detail goes on below itself."""
    head = f"  {finding.subject:{_SUBJECT}}{finding.verdict:{_VERDICT}}"
    detail = textwrap.wrap(finding.detail, _WIDTH - len(head)) or [""]
    return [f"{head}{detail[0]}".rstrip(), *(" " * len(head) + line for line in detail[1:])]
