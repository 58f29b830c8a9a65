"""Measure AVIS, its ablations and the fixed rows of tools in an encyclopaedia where every answer is known.

python -m benchmarks.worlds.avis_world [--count N]

Everything but the searches is scripted (`benchmarks.worlds.seeking.models` says what is assumed), and what the tables
show
follows from those assumptions: they tell whether the machinery does what it is to do, and on what a gain would hang;
not that any real model gains. The searches are pyvision's own index. Every arm may take as many steps: twelve. Answers
are graded by InfoSeek's rules; intervals are Wilson's, 95 %. With the default count it takes some minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NoReturn

from benchmarks.worlds.seeking.collection import RECALLED, build, recall, searches
from benchmarks.worlds.seeking.entries import World, world
from benchmarks.worlds.seeking.models import FORMS, Case, Rates, RoleModel, cases, scripted_tools
from pyvision.agent.budget import Limits
from pyvision.bench.analysis.statistics import wilson
from pyvision.bench.metrics.infoseek import official
from pyvision.events import Event, Note
from pyvision.solve import Task, solve
from pyvision.strategies.avis import Avis
from pyvision.types import Question, Tool

ARMS: Mapping[str, Avis] = {
    "AVIS": Avis(),
    "without the graph": Avis(use_graph=False),
    "without backtracking": Avis(mode="no_backtracking"),
    "without vqa": Avis(without="vqa"),
    "without objects": Avis(without="object"),
    "without search": Avis(without="search"),
    "row: vqa": Avis(mode="sequential_vqa"),
    "row: vqa, objects": Avis(mode="sequential_object"),
    "row: vqa, objects, search": Avis(mode="sequential_object_search"),
}
VARIED = ("AVIS", "without the graph", "without backtracking")


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one case. calls: tools used as actions."""

    case: Case
    is_right: bool
    calls: int
    went_back: int
    forced: bool


class NoSandbox:
    """For strategies that run no cells."""

    def warm_up(self) -> None:
        """There is nothing to warm up."""

    def open(self, images: Mapping[str, bytes]) -> NoReturn:
        raise AssertionError("a walk runs no cells")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.avis_world", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=300, help="questions (default 300)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        print(report(options.count, Path(folder)))


def report(count: int, folder: Path, things: int = 240) -> str:
    """All tables, over so many questions about so many things."""
    made = world(things)
    tools = searches(build(made, folder))
    asked = cases(made, count)
    usual = {name: play(asked, arm, made, tools, Rates()) for name, arm in ARMS.items()}
    return "\n\n".join(
        [
            f"{count} questions about {things} things, {len(made.people)} people; {Rates()}",
            _arms(usual),
            _forms(usual),
            _noise(asked, made, tools),
            _recalls(made, tools),
        ]
    )


def play(
    asked: Sequence[Case], options: Avis, made: World, tools: Mapping[str, Tool], rates: Rates
) -> list[Played]:
    """Every case with one arm."""
    return [_played(case, options, made, tools, rates) for case in asked]


def _played(case: Case, options: Avis, made: World, tools: Mapping[str, Tool], rates: Rates) -> Played:
    events: list[Event] = []
    own = {**tools, **scripted_tools(case, made, rates)}
    task = Task(
        Question(case.text, (case.picture,)),
        options,
        {"default": RoleModel(case, rates)},
        Limits(max_turns=100),
        tools=own,
    )
    outcome = solve(task, events.append, NoSandbox())
    notes = Counter(event.label for event in events if isinstance(event, Note))
    used = sum(event.label == "verdict" for event in events if isinstance(event, Note))
    score = official(outcome.answer, case.sample()).value if outcome.answer is not None else 0.0
    return Played(case, bool(score), used, notes["backtrack"], bool(notes["forced"]))


def _share(played: Sequence[Played]) -> str:
    found = wilson(sum(each.is_right for each in played), len(played))
    return f"{found.value:6.1%} [{found.low:.1%}, {found.high:.1%}]" if found else "-"


def _arms(usual: Mapping[str, Sequence[Played]]) -> str:
    lines = [f"{'the arms':<28}{'right':<26}{'steps':>6}{'went back':>11}{'forced':>9}"]
    for name, played in usual.items():
        steps, back = fmean(p.calls for p in played), fmean(p.went_back for p in played)
        told = f"{steps:>6.1f}{back:>11.2f}" if steps else f"{'-':>6}{'-':>11}"
        lines.append(f"  {name:<26}{_share(played):<26}{told}{fmean(p.forced for p in played):>9.1%}")
    return "\n".join(lines)


def _forms(usual: Mapping[str, Sequence[Played]]) -> str:
    """By the answer type, by how many articles a question needs, and by whether the thing stands alone."""
    parts = {
        **{kind: _of_kind(kind) for kind in ("String", "Time", "Numerical")},
        "one article": [name for name, form in FORMS.items() if form.articles == 1],
        "two articles": [name for name, form in FORMS.items() if form.articles == 2],
    }
    lines = [f"{'by question':<28}" + "".join(f"{part:<24}" for part in (*parts, "alone", "among others"))]
    for name, played in usual.items():
        shares = [_share([p for p in played if p.case.form in forms]) for forms in parts.values()]
        shares += [_share([p for p in played if p.case.is_crowded == crowded]) for crowded in (False, True)]
        lines.append(f"  {name:<26}" + "".join(f"{share:<24}" for share in shares))
    return "\n".join(lines)


def _of_kind(kind: str) -> list[str]:
    return [name for name, form in FORMS.items() if form.kind == kind]


def _noise(asked: Sequence[Case], made: World, tools: Mapping[str, Tool]) -> str:
    """The same arms with a planner that errs less or more."""
    rates = (0.0, 0.2, 0.5, 1.0)
    lines = [f"{'by the planner errors':<28}" + "".join(f"{rate:<24}" for rate in rates)]
    for name in VARIED:
        shares = [
            _share(play(asked, ARMS[name], made, tools, replace(Rates(), planner=rate))) for rate in rates
        ]
        lines.append(f"  {name:<26}" + "".join(f"{share:<24}" for share in shares))
    return "\n".join(lines)


def _recalls(made: World, tools: Mapping[str, Tool]) -> str:
    lines = ["recall of the index         at 1                    at 5                    at 10"]
    for kind in RECALLED:
        found = [wilson(right, len(made.things)) for right in recall(made, tools, kind)]
        told = (f"{each.value:6.1%} [{each.low:.1%}, {each.high:.1%}]" for each in found if each)
        lines.append(f"  {kind:<26}" + "".join(f"{each:<24}" for each in told))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
