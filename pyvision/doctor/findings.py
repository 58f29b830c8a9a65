"""What the doctor found out: one finding for each thing looked at, as a table and as plain values."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
