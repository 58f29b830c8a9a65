"""Measure AVIS, its ablations and fixed sequences of tools in a simulated encyclopaedia with known answers.

python -m benchmarks.worlds.avis_world [--count N] [--saved]

Everything except the searches is scripted; `benchmarks.worlds.seeking.models` lists the assumptions. The tables follow
from them: they show whether the implementation works, and what a gain would depend on, not that any real model gains.
The searches use a PyVision index. Every mode may take twelve steps. Answers are graded by InfoSeek's rules; intervals
are Wilson's, 95 %. The default count takes some minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from benchmarks.worlds.debates.modes import NoSandbox
from benchmarks.worlds.seeking.collection import RECALLED, build, recall, searches
from benchmarks.worlds.seeking.entries import World, world
from benchmarks.worlds.seeking.models import FORMS, Case, Rates, RoleModel, cases, scripted_tools
from pyvision.agent.budget import Limits
from pyvision.agent.task import Task
from pyvision.bench.analysis.statistics import mcnemar_exact, wilson
from pyvision.bench.metrics.infoseek import strict
from pyvision.events import Event, ModelCall, Note, ToolRun
from pyvision.solve import solve
from pyvision.strategies.avis import Avis
from pyvision.types import Question, Tool

MODES: Mapping[str, Avis] = {
    "AVIS": Avis(),
    "without the graph": Avis(use_graph=False),
    "without backtracking": Avis(mode="no_backtracking"),
    "without vqa": Avis(without="vqa"),
    "without objects": Avis(without="object"),
    "without search": Avis(without="search"),
    "sequence: vqa": Avis(mode="sequential_vqa"),
    "sequence: vqa, objects": Avis(mode="sequential_object"),
    "sequence: vqa, objects, search": Avis(mode="sequential_object_search"),
}
CAUTIOUS = (0.0, 0.1, 0.3)
COMPARED = ("AVIS", "without the graph", "without backtracking")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case. calls: tools used as actions. asked: requests to models.

    requested: uses of tools. used: those that the cache did not answer. tokens: of requests and replies together, as
    characters / 4.
    """

    case: Case
    is_right: bool
    calls: int
    went_back: int
    forced: bool
    asked: int
    used: int
    requested: int
    tokens: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.avis_world", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=300, help="questions (default 300)")
    parser.add_argument("--saved", action="store_true", help="only what ending early and the cache save")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        print((saved if options.saved else report)(options.count, Path(folder)))


def report(count: int, folder: Path, entries: int = 240) -> str:
    """All tables, for `count` questions about `entries` entries."""
    made = world(entries)
    tools = searches(build(made, folder))
    questions = cases(made, count)
    results = {name: play(questions, mode, made, tools, Rates()) for name, mode in MODES.items()}
    return "\n\n".join(
        [
            f"{count} questions about {entries} entries, {len(made.people)} people; {Rates()}",
            _modes(results),
            _forms(results),
            _noise(questions, made, tools),
            _recalls(made, tools),
        ]
    )


def saved(count: int, folder: Path, entries: int = 240) -> str:
    """Calls per question without and with the savings, by how often a reasoner states an answer as a mere finding.

    Before, the planner chooses every step and never ends the search, and the cache answers no request to a tool.
    The same questions,
    the same error rates; p is that of the exact McNemar test on right answers.
    """
    made = world(entries)
    tools = searches(build(made, folder))
    questions = cases(made, count)
    lines = [f"{'cautious':<10}{'':<8}{'right':<26}{'requests':>9}{'tools':>7}{'calls':>8}{'tokens':>8}"]
    for rate in CAUTIOUS:
        after = replace(Rates(), cautious=rate)
        before = play(questions, Avis(saves_calls=False), made, tools, replace(after, goes_on=1.0, hasty=0.0))
        lines += _saved_rows(rate, before, play(questions, Avis(), made, tools, after))
    return "\n".join(lines)


def _saved_rows(rate: float, before: Sequence[CaseResult], after: Sequence[CaseResult]) -> list[str]:
    asked = fmean(p.asked for p in before), fmean(p.asked for p in after)
    used = fmean(p.requested for p in before), fmean(p.used for p in after)
    rows = [
        f"{rate if name == 'before' else '':<10}{name:<8}{_share(done):<26}{asked[n]:>9.2f}{used[n]:>7.2f}"
        f"{asked[n] + used[n]:>8.2f}{fmean(p.tokens for p in done):>8.0f}"
        for n, (name, done) in enumerate({"before": before, "after": after}.items())
    ]
    fewer = 1 - (asked[1] + used[1]) / (asked[0] + used[0])
    pairs = [(b.is_right, a.is_right) for b, a in zip(before, after, strict=True)]
    lost, won = pairs.count((True, False)), pairs.count((False, True))
    return [*rows, f"{'':<10}{-fewer:+.1%} calls; {won} won, {lost} lost, p = {mcnemar_exact(won, lost):.3f}"]


def play(
    questions: Sequence[Case], options: Avis, made: World, tools: Mapping[str, Tool], rates: Rates
) -> list[CaseResult]:
    """Run every case in one mode."""
    return [_play(case, options, made, tools, rates) for case in questions]


def _play(case: Case, options: Avis, made: World, tools: Mapping[str, Tool], rates: Rates) -> CaseResult:
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
    score = strict(outcome.answer, case.sample()).value if outcome.answer is not None else 0.0
    asked = [event for event in events if isinstance(event, ModelCall)]
    uses = [event for event in events if isinstance(event, ToolRun)]
    tools_used = sum(not event.is_cached for event in uses)
    tokens = (
        sum(sum(len(message.text) for message in event.messages) + len(event.reply.text) for event in asked)
        / 4
    )
    back, forced = notes["backtrack"], bool(notes["forced"])
    return CaseResult(case, bool(score), used, back, forced, len(asked), tools_used, len(uses), tokens)


def _share(done: Sequence[CaseResult]) -> str:
    found = wilson(sum(each.is_right for each in done), len(done))
    return f"{found.value:6.1%} [{found.low:.1%}, {found.high:.1%}]" if found else "-"


def _modes(results: Mapping[str, Sequence[CaseResult]]) -> str:
    lines = [
        f"{'mode':<28}{'right':<26}{'steps':>6}{'went back':>11}{'forced':>9}{'requests':>10}{'tools':>7}{'tokens':>8}"
    ]
    for name, done in results.items():
        steps, back = fmean(p.calls for p in done), fmean(p.went_back for p in done)
        cells = f"{steps:>6.1f}{back:>11.2f}" if steps else f"{'-':>6}{'-':>11}"
        lines.append(
            f"  {name:<26}{_share(done):<26}{cells}{fmean(p.forced for p in done):>9.1%}{_costs(done)}"
        )
    return "\n".join(lines)


def _costs(done: Sequence[CaseResult]) -> str:
    requests, tools = fmean(p.asked for p in done), fmean(p.used for p in done)
    return f"{requests:>10.2f}{tools:>7.2f}{fmean(p.tokens for p in done):>8.0f}"


def _forms(results: Mapping[str, Sequence[CaseResult]]) -> str:
    """By answer type, by the number of articles needed, and by whether the object is alone in the image."""
    parts = {
        **{kind: _of_kind(kind) for kind in ("String", "Time", "Numerical")},
        "one article": [name for name, form in FORMS.items() if form.articles == 1],
        "two articles": [name for name, form in FORMS.items() if form.articles == 2],
    }
    lines = [f"{'by question':<28}" + "".join(f"{part:<24}" for part in (*parts, "alone", "among others"))]
    for name, done in results.items():
        shares = [_share([p for p in done if p.case.form in forms]) for forms in parts.values()]
        shares += [_share([p for p in done if p.case.is_crowded == crowded]) for crowded in (False, True)]
        lines.append(f"  {name:<26}" + "".join(f"{share:<24}" for share in shares))
    return "\n".join(lines)


def _of_kind(kind: str) -> list[str]:
    return [name for name, form in FORMS.items() if form.kind == kind]


def _noise(questions: Sequence[Case], made: World, tools: Mapping[str, Tool]) -> str:
    """The same modes with other error rates of the planner."""
    rates = (0.0, 0.2, 0.5, 1.0)
    lines = [f"{'by the planner errors':<28}" + "".join(f"{rate:<24}" for rate in rates)]
    for name in COMPARED:
        shares = [
            _share(play(questions, MODES[name], made, tools, replace(Rates(), planner=rate)))
            for rate in rates
        ]
        lines.append(f"  {name:<26}" + "".join(f"{share:<24}" for share in shares))
    return "\n".join(lines)


def _recalls(made: World, tools: Mapping[str, Tool]) -> str:
    lines = ["recall of the index         at 1                    at 5                    at 10"]
    for kind in RECALLED:
        found = [wilson(right, len(made.entries)) for right in recall(made, tools, kind)]
        cells = (f"{each.value:6.1%} [{each.low:.1%}, {each.high:.1%}]" for each in found if each)
        lines.append(f"  {kind:<26}" + "".join(f"{each:<24}" for each in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
