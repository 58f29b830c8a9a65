"""Count the calls of VDebugger per question, without and with what saves some of them, in a small world.

python -m benchmarks.worlds.vdebugger_calls [--count N]

Programs run in the sandbox; the tools are exact. The roles are scripted: a coder and a refiner whose programs are wrong
at a fixed rate, and a critic that errs at a fixed rate. Half of the wrong programs name another colour, so that they
make another request; the others make the same requests and fail at the end. A refinement keeps what was right, and is
as often wrong in the critic's reply as in the refiner's; one such reply in ten lacks it. Calls are requests to models
and uses of tools; the cache answers those uses that a refined program repeats. The result holds for these rates, not
for a real model.
"""

from __future__ import annotations

import argparse
import io
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from PIL import Image

from benchmarks.worlds.vdebugger_world.grammar import Case, make_cases, some_variant
from benchmarks.worlds.vdebugger_world.scenes import COLOURS, SIDE, Part, Perception
from benchmarks.worlds.vdebugger_world.simulation import is_right
from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.agent.task import Task
from pyvision.bench.analysis.statistics import mcnemar_exact, wilson
from pyvision.events import Event, ModelCall, ToolRun
from pyvision.models.streaming import in_one_piece
from pyvision.solve import solve
from pyvision.strategies.vdebugger import VDebugger
from pyvision.types import Ask, Message, Observation, Picture, Question, Reply, Sampling, ToolRequest
from sandbox import Policy, Sandbox

WRONG, CRITIC, FORGETS = 0.5, 0.1, 0.1  # rates of wrong programs, wrong verdicts, and corrections left out
TOOLS = ("detect", "vqa", "match")


@dataclass(frozen=True, slots=True)
class Calls:
    """One question. cached: uses of tools that the cache answered. roles: the requests to each role."""

    is_right: bool
    asked: int
    used: int
    cached: int
    roles: Mapping[str, int] = field(default_factory=dict)


class RoleModel:
    """Coder, critic and refiner of one question. Its programs and verdicts do not depend on `corrects`."""

    name = "scripted"

    def __init__(self, case: Case, *, corrects: bool = False) -> None:
        self._chance, self._memory = random.Random(f"roles {case.id}"), random.Random(f"memory {case.id}")
        self._corrects = corrects
        self._right = some_variant(case, self._chance)
        self._is_good = True

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        if "# Program is" in messages[-1].text:
            return Reply(self._judge())
        return Reply(self._write())

    def _judge(self) -> str:
        errs = self._chance.random() < CRITIC
        if self._is_good != errs:
            return "right"
        forgets = not self._corrects or self._memory.random() < FORGETS
        return "wrong" if forgets else f"wrong\n\n# Correction\n```python\n{self._write()}\n```"

    def _write(self) -> str:
        self._is_good = self._chance.random() >= WRONG
        return self._right if self._is_good else self._spoil()

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
        paper = [play(case, sandbox, critic_on_error=True) for case in cases]
        early = [play(case, sandbox) for case in cases]
        merged = [play(case, sandbox, one_reply=True) for case in cases]
    print(table(paper, early, merged))


def play(case: Case, sandbox: AnySandbox, *, critic_on_error: bool = False, one_reply: bool = False) -> Calls:
    """Answer one question. critic_on_error, one_reply: the options of the strategy."""
    events: list[Event] = []
    tools = {name: SceneTool(name, case) for name in TOOLS}
    strategy = VDebugger(
        form=case.form,
        crop_margin_px=0,
        fallback=False,
        box_origin="bottom-left",
        critic_on_error=critic_on_error,
        one_reply=one_reply,
    )
    model = RoleModel(case, corrects=one_reply)
    task = Task(Question(case.task, (_picture(),)), strategy, {"default": model}, tools=tools)
    outcome = solve(task, events.append, sandbox)
    uses = [event for event in events if isinstance(event, ToolRun)]
    roles = Counter(event.role for event in events if isinstance(event, ModelCall))
    cached = sum(event.is_cached for event in uses)
    return Calls(is_right(case, outcome.answer), roles.total(), len(uses), cached, roles)


def table(paper: Sequence[Calls], early: Sequence[Calls], merged: Sequence[Calls]) -> str:
    """The means per question, and the exact McNemar test of the right answers without savings and with each.

    early: without a critic of failures; merged: with one reply for verdict and correction as well. The answers are the
    same with and without the cache, since the tools are exact.
    """
    rows = {
        "without cache": [(each.asked, each.used) for each in paper],
        "with cache": [(each.asked, each.used - each.cached) for each in paper],
        "no critic of failures": [(each.asked, each.used - each.cached) for each in early],
        "one reply": [(each.asked, each.used - each.cached) for each in merged],
    }
    base = fmean(map(sum, rows["without cache"]))
    roles = ("coder", "critic", "refiner")
    head = "".join(f"{name:>9}" for name in (*roles, "tools", "calls"))
    lines = [f"{len(paper)} questions{'':<13}{head}"]
    for (name, done), played in zip(rows.items(), (paper, paper, early, merged), strict=True):
        asked, used = (fmean(column) for column in zip(*done, strict=True))
        by_role = "".join(f"{fmean(each.roles.get(role, 0) for each in played):>9.2f}" for role in roles)
        total = asked + used
        lines.append(f"{name:<26}{by_role}{used:>9.2f}{total:>9.2f}{total / base - 1:>+8.1%}")
    lines += [f"right: {_share(paper)}", f"  no critic of failures: {_compared(paper, early)}"]
    return "\n".join([*lines, f"  one reply as well: {_compared(early, merged)}"])


def _compared(before: Sequence[Calls], after: Sequence[Calls]) -> str:
    """The right answers after, and the exact McNemar test against those before."""
    pairs = [(one.is_right, other.is_right) for one, other in zip(before, after, strict=True)]
    won, lost = pairs.count((False, True)), pairs.count((True, False))
    return f"{_share(after)}; {won} won, {lost} lost, p = {mcnemar_exact(won, lost):.3f}"


def _share(done: Sequence[Calls]) -> str:
    found = wilson(sum(each.is_right for each in done), len(done))
    assert found is not None
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


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
