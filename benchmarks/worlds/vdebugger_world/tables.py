"""The tables of the world, and what they say about the two directions of VDebugger's own results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.statistics import Estimate, mcnemar_exact, wilson
from pyvision.experiments.vdebugger_training.metrics import Debugged, format_rows, measure, table


@dataclass(frozen=True, slots=True)
class Findings:
    """What was counted: first programs by fate, injections by decoding and fate, and debugging by test and arm."""

    written: Mapping[str, int]
    injected: Mapping[str, Mapping[str, int]]
    played: Mapping[str, Mapping[str, Sequence[Debugged]]]
    rounds: int


def report(findings: Findings) -> str:
    """All tables."""
    parts = ["values are percent [95 % interval] of how many", _injection(findings)]
    for title, arms in findings.played.items():
        columns = {name: measure(questions, findings.rounds) for name, questions in arms.items()}
        parts.append(f"{title}\n{table(columns)}\n{_feedback(arms)}")
    parts.append(_directions(findings))
    return "\n\n".join(parts)


def rate(counts: Mapping[str, int], fate: str) -> Estimate | None:
    """Of all attempts, the share with this fate."""
    return wilson(counts.get(fate, 0), sum(counts.values()))


def _injection(findings: Findings) -> str:
    fates = {
        "broken: runs to a wrong answer or none": "wrong",
        "still right": "right",
        "refused: as it was, or changed elsewhere": "refused",
    }
    rows = {label: [rate(each, fate) for each in findings.injected.values()] for label, fate in fates.items()}
    first = rate(findings.written, "right")
    head = f"first programs of the coder that are right: {format_rows([''], {'': [first]}).strip()}"
    return f"{head}\nerrors injected, of all attempts\n{format_rows(list(findings.injected), rows)}"


def _feedback(arms: Mapping[str, Sequence[Debugged]]) -> str:
    """The critics compared question by question."""
    without, feedback = ([_is_judged(each) for each in questions] for questions in arms.values())
    only_without = sum(a and not b for a, b in zip(without, feedback, strict=True))
    only_with = sum(b and not a for a, b in zip(without, feedback, strict=True))
    p = mcnemar_exact(only_without, only_with)
    return (
        f"judged as it is by one critic only: {only_without} without, {only_with} with feedback; p = {p:.3g}"
    )


def _is_judged(question: Debugged) -> bool:
    return question.rounds[0].accepted == question.rounds[0].is_right


def _directions(findings: Findings) -> str:
    greedy, masked = (rate(findings.injected[name], "wrong") for name in ("greedy", "mask_best"))
    lines = ["the directions of the paper, here"]
    if greedy and masked:
        is_reverse = masked.high < greedy.low
        holds = (
            "holds"
            if masked.low > greedy.high
            else "does not hold, the reverse does"
            if is_reverse
            else "is not shown"
        )
        times = (
            f"{masked.value / greedy.value:.1f} times as often" if greedy.value else "where greedy never does"
        )
        lines.append(f"  mask-best injects more errors than greedy: {holds}; {times}")
    for title, arms in findings.played.items():
        lines.append(f"  feedback helps the critic, {title}: {_verdict(arms)}")
        for name, questions in arms.items():
            lines.append(f"  debugging {name} raises the task score, {title}: {_gain(questions)}")
    return "\n".join(lines)


def _verdict(arms: Mapping[str, Sequence[Debugged]]) -> str:
    without, feedback = ([_is_judged(each) for each in questions] for questions in arms.values())
    gain = sum(feedback) - sum(without)
    p = mcnemar_exact(
        sum(a and not b for a, b in zip(without, feedback, strict=True)),
        sum(b and not a for a, b in zip(without, feedback, strict=True)),
    )
    return _said(gain, len(without), p)


def _gain(questions: Sequence[Debugged]) -> str:
    before = [each.rounds[0].is_right for each in questions]
    after = [each.rounds[-1].is_right for each in questions]
    won = sum(b and not a for a, b in zip(before, after, strict=True))
    lost = sum(a and not b for a, b in zip(before, after, strict=True))
    return f"{_said(won - lost, len(questions), mcnemar_exact(lost, won))} ({won} mended, {lost} spoilt)"


def _said(gain: int, n: int, p: float) -> str:
    holds = "is not shown" if p >= 0.05 else "holds" if gain > 0 else "does not hold, the reverse does"
    return f"{holds}; {gain / n:+.1%} of {n}, p = {p:.3g}"
