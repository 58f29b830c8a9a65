"""What probes work with: a client that sends a bounded number of requests, and findings, which make up the table."""

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

_RETRY_S = 15.0  # somebody is waiting for the result
_NOTHING_SET = Sampling()
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
    "calls tools",
    "pictures in results",
    "reasoning",
]

_WIDTH = 80
_SUBJECT, _VERDICT = 24, 15  # columns; the rest is for the detail


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One line of the table. `value` is the result for programs."""

    subject: Subject
    verdict: Verdict
    detail: str = ""
    value: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """A reply, and the number of pieces in which its text was streamed."""

    reply: Reply
    pieces: int

    @property
    def text(self) -> str:
        return self.reply.text


class ProbeClient:
    """One model behind one endpoint, with a budget of calls. The caller closes it."""

    def __init__(self, config: ModelConfig, calls: int) -> None:
        self.calls_left = calls
        self.config = replace(
            config, retry_s=min(config.retry_s, _RETRY_S), temperature=None, max_tokens=None
        )
        self._models: dict[str, Model] = {}

    def ask(
        self,
        messages: Sequence[Message],
        sampling: Sampling = _NOTHING_SET,
        config: ModelConfig | None = None,
        **body: Any,
    ) -> ProbeReply:
        """One reply; `body` is put into the request unchanged. config: instead of the client's own.

        Raises ModelError, at once if a retry would not help.
        """
        self.calls_left -= 1
        model = self._model(config or self.config, body)
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

    def _model(self, config: ModelConfig, body: dict[str, Any]) -> Model:
        """One model, with one HTTP client, for each setting of reasoning and each extra body."""
        key = json.dumps([config.reasoning, body], sort_keys=True)
        if key not in self._models:
            self._models[key] = build(replace(config, extra_body=config.extra_body | body))
        return self._models[key]


def table(sections: Sequence[tuple[str, Sequence[ProbeFinding]]]) -> str:
    """Each section under its title, within 80 columns."""
    lines: list[str] = []
    for title, findings in sections:
        lines += ["", *textwrap.wrap(title, _WIDTH)] if lines else textwrap.wrap(title, _WIDTH)
        for finding in findings:
            lines += _rows(finding)
    return "\n".join(lines)


def turn(*parts: Part) -> tuple[Message, ...]:
    """The messages of a single user turn."""
    return (Message("user", parts),)


def complaint(error: ModelError) -> str:
    """The error message of the endpoint, without model name and address, which stand above the table."""
    return re.sub(r"^\S* at \S+: ", "", str(error))


def quote_start(text: str) -> str:
    """The beginning of a reply on one line, quoted."""
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:80] + "…")


def _rows(finding: ProbeFinding) -> list[str]:
    """A long detail continues in its own column."""
    head = f"  {finding.subject:{_SUBJECT}}{finding.verdict:{_VERDICT}}"
    detail = textwrap.wrap(finding.detail, _WIDTH - len(head)) or [""]
    return [f"{head}{detail[0]}".rstrip(), *(" " * len(head) + line for line in detail[1:])]
