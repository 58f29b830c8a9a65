"""Turns that are lost to the harness, tokens and accuracy of a simulated model with the habits of strong ones.

    python -m benchmarks.simulated --questions 300

The model knows what to do from the start, so a perfect harness loses no turn. A turn is lost if what came back does not
hold what the reply was for: the reply could not be used (`repair`), its cell failed (`error`), nothing came back of
what it showed or printed (`nothing`), or it does not show the object (`unseen`), for example because a box was read in
other units. An answer is lost if the run does not end with the right one. A cell has two minutes, so that a busy
machine loses none.
Token counts are estimates: four characters or 28 x 28 pixels each. Not covered: a model that errs; it never does.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.simulated.player import SimulatedModel, figures_of, is_output
from benchmarks.simulated.questions import Task, make_tasks
from pyvision.events import CellRun, Event, ModelCall
from pyvision.solve import prepare, solve
from pyvision.types import Message, Outcome
from sandbox import Policy, Sandbox

_GOAL = 0.02


@dataclass(frozen=True, slots=True)
class Played:
    """How one question went. lost: why each lost turn was lost, with a few words of the reply or of the error."""

    task: Task
    outcome: Outcome
    turns: int
    tokens: int
    lost: tuple[tuple[str, str], ...]

    @property
    def is_right(self) -> bool:
        return (self.outcome.answer or "").strip().casefold() == str(self.task.sample.target).casefold()


def play(task: Task, sandbox: Sandbox, folder: Path, seed: int) -> Played:
    """Answer one question, as `pyvision run` does."""
    image = folder / "image.jpg"
    image.write_bytes(task.image)
    choices = "\n".join(
        f"{letter}. {choice}" for letter, choice in zip("ABCDEF", task.sample.choices, strict=False)
    )
    text = f"{task.sample.text}\n{choices}".strip()
    events: list[Event] = []
    model = SimulatedModel(task, seed)
    with prepare(text, [image], model=model) as prepared:
        outcome = solve(prepared, events.append, sandbox)
    calls = [event for event in events if isinstance(event, ModelCall)]
    tokens = sum(call.reply.usage.input_tokens + call.reply.usage.output_tokens for call in calls)
    return Played(task, outcome, len(calls), tokens, tuple(find_lost(events, model)))


def find_lost(events: Sequence[Event], model: SimulatedModel) -> Iterator[tuple[str, str]]:
    """Why turns were lost, one entry each."""
    calls = [event for event in events if isinstance(event, ModelCall)]
    cells = {event.code.strip(): event for event in events if isinstance(event, CellRun)}
    for before, call in pairwise(calls):
        turn = call.messages[-1]
        if model.is_useful(turn):
            continue
        ran = next((cell for code, cell in cells.items() if code in before.reply.text), None)
        yield _reason(turn, ran), f"{before.reply.text[-400:]} -> {turn.text[:400]}"


def _reason(turn: Message, ran: CellRun | None) -> str:
    if not is_output(turn):
        return "repair"
    if ran is not None and ran.result.status != "ok":
        return "error"
    return "unseen" if figures_of(turn) else "nothing"


def summarise(played: Sequence[Played]) -> dict[str, Any]:
    """The measured shares, over all questions and by kind of question."""
    return {**_shares(played), "kinds": {
        kind: _shares([each for each in played if each.task.kind == kind])
        for kind in dict.fromkeys(each.task.kind for each in played)
    }}  # fmt: skip


def _shares(played: Sequence[Played]) -> dict[str, Any]:
    count = len(played)
    lost = Counter(why for each in played for why, _ in each.lost)
    return {
        "questions": count,
        "accuracy": round(sum(each.is_right for each in played) / count, 4),
        "lost_answers": sum(not each.is_right for each in played),
        "lost_turns_per_question": round(lost.total() / count, 4),
        "lost_turns": dict(lost),
        "turns_per_question": round(sum(each.turns for each in played) / count, 3),
        "tokens_per_question": round(sum(each.tokens for each in played) / count),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    played: list[Played] = []
    with Sandbox(Policy(cell_timeout_s=120.0)) as sandbox, tempfile.TemporaryDirectory() as folder:
        for number, task in enumerate(make_tasks(options.questions, options.seed)):
            played.append(play(task, sandbox, Path(folder), options.seed))
            for why, what in played[-1].lost:
                print(f"{number} {task.kind}: {why}: {what!r}", file=sys.stderr, flush=True)
            if not played[-1].is_right:
                print(f"{number} {task.kind}: lost answer: {played[-1].outcome}", file=sys.stderr, flush=True)
    measured = summarise(played)
    print(json.dumps(measured, indent=1))
    return 0 if measured["lost_turns_per_question"] <= _GOAL and not measured["lost_answers"] else 1


if __name__ == "__main__":
    sys.exit(main())
