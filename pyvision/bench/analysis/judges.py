"""Who judged, how many answers, and how: read from the scores themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.bench.results import Result
from pyvision.bench.samples import JudgeInfo


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What one judge said. prompts: each with the first digits of its hash. unreadable: not scored."""

    judge: str
    prompts: tuple[str, ...]
    asked: int
    right: int
    wrong: int
    unreadable: int


def judges_of(results: Sequence[Result]) -> tuple[JudgeCounts, ...]:
    """One row for each judge; none where the rules decided alone."""
    by_judge: dict[str, list[tuple[JudgeInfo, float | None]]] = {}
    for each in results:
        if (judge := each.score.judge) is not None:
            by_judge.setdefault(judge.model, []).append((judge, each.score.value))
    return tuple(_counts(judge, said) for judge, said in sorted(by_judge.items()))


def in_a_sentence(counts: JudgeCounts, n: int) -> str:
    """The counts as a report tells them; n: answers in all."""
    return (
        f"{counts.judge} judged {counts.asked} of {n} answers, in which the rules found nothing: "
        f"{counts.right} right, {counts.wrong} wrong, {counts.unreadable} without a readable verdict, which stay "
        f"unscored. Its prompts: {', '.join(counts.prompts)}."
    )


def _counts(judge: str, said: Sequence[tuple[JudgeInfo, float | None]]) -> JudgeCounts:
    values = [value for _, value in said]
    return JudgeCounts(
        judge,
        tuple(sorted({f"{info.prompt} {info.version}" for info, _ in said})),
        asked=len(said),
        right=values.count(1.0),
        wrong=values.count(0.0),
        unreadable=values.count(None),
    )
