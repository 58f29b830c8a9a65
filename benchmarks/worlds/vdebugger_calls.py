"""Count the calls of VDebugger per question with its cache of tool requests, and with fewer critics, in a small world.

python -m benchmarks.worlds.vdebugger_calls [--count N]

Programs run in the sandbox; the tools are exact. The roles are scripted: a coder and a refiner whose programs are wrong
at a fixed rate, and a critic that errs at a fixed rate. Half of the wrong programs name another colour, so that they
make another request; the others make the same requests and fail at the end. A refinement keeps what was right. Calls
are requests to models and uses of tools; the cache answers those uses that a refined program repeats. The result holds
for these rates, not for a real model.
"""

from __future__ import annotations

import argparse
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from PIL import Image

from benchmarks.worlds.vdebugger_world.grammar import Case, make_cases, some_variant
from benchmarks.worlds.vdebugger_world.scenes import COLOURS, SIDE, Part, Perception
from benchmarks.worlds.vdebugger_world.simulation import is_right
from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.bench.analysis.statistics import mcnemar_exact
from pyvision.events import Event, ModelCall, ToolRun
from pyvision.models.streaming import in_one_piece
from pyvision.solve import Task, solve
from pyvision.strategies.vdebugger import VDebugger
from pyvision.types import Ask, Message, Observation, Picture, Question, Reply, Sampling, ToolRequest
from sandbox import Policy, Sandbox

WRONG, CRITIC = 0.5, 0.1  # rates of wrong programs and of wrong verdicts
TOOLS = ("detect", "vqa", "match")


@dataclass(frozen=True, slots=True)
class Calls:
    """One question. cached: uses of tools that the cache answered."""

    is_right: bool
    asked: int
    used: int
    cached: int


class RoleModel:
    """Coder, critic and refiner of one question."""

    name = "scripted"

    def __init__(self, case: Case) -> None:
        self._chance = random.Random(f"roles {case.id}")
        self._right = some_variant(case, self._chance)
        self._is_good = True

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        if "# Program is" in messages[-1].text:
            errs = self._chance.random() < CRITIC
            return Reply("right" if self._is_good != errs else "wrong")
        self._is_good = self._chance.random() >= WRONG
        return Reply(self._right if self._is_good else self._spoil())

    def _spoil(self) -> str:
        named = [colour for colour in COLOURS if colour in self._right]
        if 0 < len(named) < len(COLOURS) and self._chance.random() < 0.5:  # all of them are a list of options
            other = self._chance.choice([colour for colour in COLOURS if colour not in named])
            return self._right.replace(named[0], other)
        before, _, _ = self._right.rpartition("return ")
        return f"{before}return found_{self._chance.randrange(10)}"

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))


@dataclass(frozen=True, slots=True)
class SceneTool:
    """A tool that knows the scene; the pixels of a crop say where it was cut out."""

    name: str
    case: Case
    purpose: str = "for a measurement"
    is_repeatable = True

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        part, perception = _part(self.case, request.picture), Perception()
        match self.name:
            case "detect":
                boxes = [
                    {"left": left, "top": part.height - upper, "right": right, "bottom": part.height - lower}
                    | {"score": score, "label": request.text}
                    for left, lower, right, upper, score in perception.find(part, request.text)
                ]
                return Observation("boxes", {"boxes": boxes})
            case "vqa":
                answer = perception.simple_query(part, request.text)
                return Observation(answer, {"answer": answer})
        return Observation("scores", {"scores": perception.match(part, list(request.options["texts"]))})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.vdebugger_calls", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=300, help="questions (default 300)")
    options = parser.parse_args(arguments)
    with Sandbox(Policy()) as sandbox:
        cases = list(make_cases("calls", options.count))
        paper = [play(case, sandbox) for case in cases]
        early = [play(case, sandbox, critic_on_error=False) for case in cases]
    print(table(paper, early))


def play(case: Case, sandbox: AnySandbox, *, critic_on_error: bool = True) -> Calls:
    """Answer one question. critic_on_error: the option of the strategy."""
    events: list[Event] = []
    tools = {name: SceneTool(name, case) for name in TOOLS}
    strategy = VDebugger(
        form=case.form,
        crop_margin_px=0,
        fallback=False,
        box_origin="bottom-left",
        critic_on_error=critic_on_error,
    )
    task = Task(Question(case.task, (_picture(),)), strategy, {"default": RoleModel(case)}, tools=tools)
    outcome = solve(task, events.append, sandbox)
    uses = [event for event in events if isinstance(event, ToolRun)]
    asked = sum(isinstance(event, ModelCall) for event in events)
    return Calls(is_right(case, outcome.answer), asked, len(uses), sum(event.is_cached for event in uses))


def table(paper: Sequence[Calls], early: Sequence[Calls]) -> str:
    """The means per question, and the exact McNemar test of the right answers with and without critic_on_error.

    The answers are the same with and without the cache, since the tools are exact.
    """
    rows = {
        "without cache": [(each.asked, each.used) for each in paper],
        "with cache": [(each.asked, each.used - each.cached) for each in paper],
        "critic_on_error=false": [(each.asked, each.used - each.cached) for each in early],
    }
    base = fmean(map(sum, rows["without cache"]))
    lines = [f"{len(paper)} questions{'':<13}{'requests':>9}{'tools':>7}{'calls':>7}"]
    for name, done in rows.items():
        asked, used = (fmean(column) for column in zip(*done, strict=True))
        lines.append(
            f"{name:<26}{asked:>9.2f}{used:>7.2f}{asked + used:>7.2f}{(asked + used) / base - 1:>+8.1%}"
        )
    pairs = [(before.is_right, after.is_right) for before, after in zip(paper, early, strict=True)]
    won, lost = pairs.count((False, True)), pairs.count((True, False))
    right = " and ".join(f"{fmean(each.is_right for each in done):.1%}" for done in (paper, early))
    p = mcnemar_exact(won, lost)
    return "\n".join(
        [*lines, f"right: {right} with critic_on_error=false; {won} won, {lost} lost, p = {p:.3f}"]
    )


def _picture() -> Picture:
    """Each pixel is (column, row from the top), so that a crop says where it was."""
    image = Image.new("RGB", (SIDE, SIDE))
    image.putdata([(x, y, 0) for y in range(SIDE) for x in range(SIDE)])
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return Picture(sink.getvalue(), "image/png", SIDE, SIDE)


def _part(case: Case, picture: Picture | None) -> Part:
    if picture is None:
        return Part(case.scene)
    with Image.open(io.BytesIO(picture.data)) as image:
        corner = image.convert("RGB").getpixel((0, 0))
        assert isinstance(corner, tuple)
        left, top = int(corner[0]), int(corner[1])
        return Part(case.scene, left, top, left + image.width, top + image.height)


if __name__ == "__main__":
    main()
