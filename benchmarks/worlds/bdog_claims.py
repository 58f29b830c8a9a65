"""Test claims about the debate on graphs: that it beats a vote of as many calls, and that personalities help.

python -m benchmarks.worlds.bdog_claims vote|personalities [--detect POINTS] [--power P] [--pilot N] [--shapes N]

`vote`: each question is debated, then asked again and again, as often as its debate called the model, and the most
frequent answer counts. `personalities`: each question is debated by roles with personalities, and by roles without.
A pilot over other questions fixes the number of questions. The roles are scripted (`benchmarks.worlds.debates.models`):
the result holds for their error rates, not for a real model. A vote is tested for several shares of systematic errors,
which it cannot remove. Personalities are tested for several shares of these errors that differ from one personality to
another (`diversity`): how large that share is in a real model is not known. If it is nothing, they change nothing here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.worlds.claims import Aim, ClaimTest, compare_questions, format_table, questions_needed
from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import Case, cases, play
from pyvision.agent.budget import Limits
from pyvision.runs.report.debates import DebateRecord, is_right
from pyvision.strategies.bdog import Bdog

DEBATE = Bdog()
VOTE = Bdog(mode="majority_vote", rounds=50)  # ends at the limit of the budget
ALIKE = Bdog(proponent_personality="none", opponent_personality="none", moderator_personality="none")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways to answer a question, the better one by the claim first; and the worlds in which they are compared."""

    ways: tuple[str, str]
    ask: Callable[[Case, Abilities], tuple[DebateRecord, DebateRecord]]
    worlds: Mapping[str, Abilities]


def ask_debate_then_vote(case: Case, abilities: Abilities) -> tuple[DebateRecord, DebateRecord]:
    """Debate a question, then vote on it with as many calls."""
    debate = play(case, DEBATE, abilities)
    return debate, play(case, VOTE, abilities, Limits(max_turns=debate.calls))


def ask_with_then_without(case: Case, abilities: Abilities) -> tuple[DebateRecord, DebateRecord]:
    """Debate a question with personalities, then without."""
    return play(case, DEBATE, abilities), play(case, ALIKE, abilities)


COMPARISONS: Mapping[str, Comparison] = {
    "vote": Comparison(
        ("debate", "vote"),
        ask_debate_then_vote,
        {f"{share:.0%} systematic errors": Abilities(shared=share) for share in (0.0, 0.4, 0.8)},
    ),
    "personalities": Comparison(
        ("with", "without"),
        ask_with_then_without,
        {f"{share:.0%} diversity of systematic errors": Abilities(diversity=share) for share in (0.5, 1.0)},
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.bdog_claims", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("claim", choices=list(COMPARISONS))
    parser.add_argument(
        "--detect", type=float, default=5.0, help="the difference to find, points (default 5)"
    )
    parser.add_argument("--power", type=float, default=0.8, help="(default 0.8)")
    parser.add_argument("--pilot", type=int, default=100, help="questions of the pilot (default 100)")
    parser.add_argument("--shapes", type=int, default=10, help="in a scene (default 10)")
    options = parser.parse_args(arguments)
    comparison = COMPARISONS[options.claim]
    aim = Aim(options.detect / 100, options.power, len(comparison.worlds))
    print(report(comparison, aim, options.pilot, options.shapes))


def report(comparison: Comparison, aim: Aim, pilot: int, shapes: int) -> str:
    """The table, a row for each world."""
    worlds = comparison.worlds.items()
    planned = [plan([comparison.ask(case, able) for case in cases(pilot, shapes)], aim) for _, able in worlds]
    tested = [
        compare(world, [comparison.ask(case, able) for case in cases(pilot + number, shapes)[pilot:]])
        for (world, able), number in zip(worlds, planned, strict=True)
    ]
    return f"{aim}, pilot of {pilot}\n{format_table(tested, comparison.ways, aim, 'questions')}"


def plan(pilot: Sequence[tuple[DebateRecord, DebateRecord]], aim: Aim) -> int:
    """The number of questions."""
    return questions_needed([float(_right(one) - _right(other)) for one, other in pilot], aim)


def compare(world: str, asked: Sequence[tuple[DebateRecord, DebateRecord]]) -> ClaimTest:
    """The claim in one world, with the calls and the tokens of both ways."""
    calls, tokens = (
        "/".join(f"{fmean(getattr(pair[way], what) for pair in asked):.{digits}f}" for way in (0, 1))
        for what, digits in (("calls", 2), ("tokens", 0))
    )
    answers = [(_right(one), _right(other)) for one, other in asked]
    return compare_questions(f"{world}, {calls} calls, {tokens} tokens", answers)


def _right(record: DebateRecord) -> bool:
    return is_right(record.answer, record.target or "")


if __name__ == "__main__":
    main()
