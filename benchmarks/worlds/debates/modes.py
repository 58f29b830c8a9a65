"""Run the arms of a comparison over the questions of the world, and say what came of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NoReturn

from benchmarks.worlds.debates.models import Abilities, RoleModel
from benchmarks.worlds.debates.questions import KINDS, Query, query
from benchmarks.worlds.debates.scenes import Scene, scene
from pyvision.events import Event
from pyvision.runs.report.debates import Record, record
from pyvision.solve import Task, solve
from pyvision.strategies.bdog import Bdog
from pyvision.types import Question

ARMS: Mapping[str, Bdog] = {
    "plain": Bdog(mode="plain"),
    "self-correction": Bdog(mode="self_correction"),
    "debate only": Bdog(mode="debate_only"),
    "graph only": Bdog(mode="graph_only"),
    "BDoG": Bdog(),
    "majority vote": Bdog(mode="majority_vote"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A scene and a question about it."""

    scene: Scene
    query: Query


class NoSandbox:
    """For strategies that run no cells."""

    def warm_up(self) -> None:
        """There is nothing to warm up."""

    def open(self, images: Mapping[str, bytes]) -> NoReturn:
        raise AssertionError("a debate runs no cells")


@cache
def cases(count: int, things: int, kinds: Sequence[str] = tuple(KINDS)) -> tuple[Case, ...]:
    """So many cases of so many things, the kinds in turn; the same ones every time."""
    found: list[Case] = []
    number = 0
    while len(found) < count:
        shown = scene(f"{things}-{number}", things)
        number += 1
        asked = query(shown, kinds[len(found) % len(kinds)])
        if asked is not None:
            found.append(Case(shown, asked))
    return tuple(found)


@cache
def play(case: Case, options: Bdog, abilities: Abilities) -> Record:
    """One case with one arm; the target is the letter of the right choice."""
    events: list[Event] = []
    player = RoleModel(case.scene, case.query, abilities)
    question = Question(case.query.text, (case.scene.picture(),), choices=case.query.choices)
    solve(Task(question, options, {"default": player}), events.append, NoSandbox())
    right = case.query.answer(case.scene.graph)
    target = "ABCDEFGH"[case.query.choices.index(right or "")]
    return replace(record(case.scene.id, events, mode=options.mode), target=target)
