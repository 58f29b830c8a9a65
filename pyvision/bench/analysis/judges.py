"""Who judged, how many answers, and how: read from the scores themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.graded import Graded
from pyvision.bench.metrics.judge import Told, find_told


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What one judge said. prompts: each with the first digits of its hash. unreadable: not scored."""

    judge: str
    prompts: tuple[str, ...]
    asked: int
    right: int
    wrong: int
    unreadable: int


def judges_of(graded: Sequence[Graded]) -> tuple[JudgeCounts, ...]:
    """One row for each judge; none where the rules decided alone."""
    by_judge: dict[str, list[tuple[Told, float | None]]] = {}
    for told, value in _told(graded):
        by_judge.setdefault(told.judge, []).append((told, value))
    return tuple(_counts(judge, said) for judge, said in sorted(by_judge.items()))


def in_a_sentence(counts: JudgeCounts, n: int) -> str:
    """The counts as a report tells them; n: answers in all."""
    return (
        f"{counts.judge} judged {counts.asked} of {n} answers, in which the rules found nothing: "
        f"{counts.right} right, {counts.wrong} wrong, {counts.unreadable} without a readable verdict, which stay "
        f"unscored. Its prompts: {', '.join(counts.prompts)}."
    )


def _told(graded: Sequence[Graded]) -> Iterator[tuple[Told, float | None]]:
    for each in graded:
        told = find_told(each.score)
        if told is not None:
            yield told, each.score.value


def _counts(judge: str, said: Sequence[tuple[Told, float | None]]) -> JudgeCounts:
    values = [value for _, value in said]
    return JudgeCounts(
        judge,
        tuple(sorted({f"{told.prompt} {told.version}" for told, _ in said})),
        asked=len(said),
        right=values.count(1.0),
        wrong=values.count(0.0),
        unreadable=values.count(None),
    )
