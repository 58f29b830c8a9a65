"""Runs of the strategy for tests: events, and folders as `pyvision run` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyvision.agent.task import RunConfig, Task
from pyvision.events import Event
from pyvision.models.scripted import Scripted
from pyvision.solve import solve
from pyvision.strategies.bdog import Bdog
from pyvision.strategies.bdog.graphs import Graph
from pyvision.trajectory import TrajectoryWriter
from pyvision.types import Question, Reply, Usage
from tests.doubles import CannedSandbox, picture
from tests.strategies.bdog.graphs import graph

BLUEPRINT = graph("dog colour=red, cat, mat", "dog chases cat")
AFFIRMATIVE = graph("dog colour=brown, cat", "dog follows cat")
NEGATIVE = graph("dog colour=brown, cat, ball", "dog follows cat", "ball near cat")
REPLIES = (BLUEPRINT, AFFIRMATIVE, NEGATIVE, AFFIRMATIVE, NEGATIVE, r"\boxed{B}")
QUESTION = Question("Who <runs>?", (picture(),), choices=("the dog", "the cat"))


def events_of(replies: Sequence[str | Graph] = REPLIES, **options: Any) -> list[Event]:
    events: list[Event] = []
    solve(_task(replies, options), events.append, CannedSandbox())
    return events


def write_run(
    folder: Path, replies: Sequence[str | Graph] = REPLIES, target: str | None = None, **options: Any
) -> Path:
    task = _task(replies, options)
    setup = {"strategy": "bdog", "options": {"mode": options.get("mode", "bdog")}}
    with TrajectoryWriter(folder, setup | ({"target": target} if target else {})) as trajectory:
        solve(task, trajectory.write, CannedSandbox())
    return folder


def _task(replies: Sequence[str | Graph], options: dict[str, Any]) -> Task:
    scripted = [
        Reply(reply.json() if isinstance(reply, Graph) else reply, Usage(100, 10)) for reply in replies
    ]
    return Task(QUESTION, Bdog(**options), {"default": Scripted(scripted)}, config=RunConfig("bdog"))
