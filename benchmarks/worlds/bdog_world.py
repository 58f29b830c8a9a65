"""Measure the debate on a graph, its ablations and equal-cost controls in a world where every answer is known.

python -m benchmarks.worlds.bdog_world [--count N] [--nlvr FOLDER]

Everything is scripted (`benchmarks.worlds.debates.models` says what is assumed), and what the tables show follows
from those assumptions. They tell whether the machinery does what it is to do, and on what a gain would hang; not that
any real model gains. Intervals are Wilson's, 95 %. With the default count it takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import ARMS, Case, cases, misprints, play, play_samples
from benchmarks.worlds.debates.scenes import KINDS
from pyvision.experiments.bdog_analysis.statistics import Share, statistics_of, table
from pyvision.runs.report.debate_graphs.record import Record, is_right
from pyvision.strategies.bdog import Bdog

THINGS = 10  # of a scene, unless a table varies them
COMPARED = ("plain", "graph only", "BDoG", "majority vote")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.bdog_world", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--count", type=int, default=100, help="questions in each cell of a table (default 100)"
    )
    parser.add_argument(
        "--nlvr", type=Path, metavar="FOLDER", help="NLVR samples to debate too: samples.jsonl, images"
    )
    options = parser.parse_args(arguments)
    print(report(options.count))
    if options.nlvr:
        print(play_samples(options.nlvr))


def report(count: int) -> str:
    """All tables, over so many questions in each cell."""
    usual = {name: _played(cases(count, THINGS), arm, Abilities()) for name, arm in ARMS.items()}
    return "\n\n".join(
        [
            f"{count} questions in each cell, {THINGS} things in a scene unless told otherwise; {Abilities()}",
            _arms(usual),
            _kinds(usual, count),
            _varied("things in the scene", _distractors(count)),
            _varied(
                "judgement error (0.5: no better than a coin)",
                _abilities(count, "judgement", (0.1, 0.25, 0.5)),
            ),
            _varied("share of errors that are the model's own", _abilities(count, "shared", (0.0, 0.4, 0.8))),
            _stopping(count),
            "what happened inside the debates\n\n"
            + table(statistics_of([r for rs in usual.values() for r in rs])),
            misprints(),
        ]
    )


def _played(questions: Sequence[Case], options: Bdog, abilities: Abilities) -> list[Record]:
    return [play(case, options, abilities) for case in questions]


def _share(records: Sequence[Record]) -> Share:
    return Share(sum(is_right(r.answer, r.target or "") for r in records), len(records))


def _arms(usual: Mapping[str, Sequence[Record]]) -> str:
    lines = ["the arms                                                    calls  tokens (characters / 4)"]
    for name, records in usual.items():
        calls, tokens = fmean(r.calls for r in records), fmean(r.tokens for r in records)
        lines.append(f"  {name:<16} {_share(records)!s:<38} {calls:>6.1f} {tokens:>8.0f}")
    return "\n".join(lines)


def _kinds(usual: Mapping[str, Sequence[Record]], count: int) -> str:
    lines = ["by the kind of question  " + "".join(f"{kind:<26}" for kind in KINDS)]
    for name, records in usual.items():
        parts = (_share(records[place :: len(KINDS)]) for place in range(min(len(KINDS), count)))
        lines.append(f"  {name:<22} " + "".join(f"{_brief(part):<26}" for part in parts))
    return "\n".join(lines)


def _varied(what: str, columns: Mapping[str, Mapping[str, Sequence[Record]]]) -> str:
    lines = [f"{what:<46}" + "".join(f"{column:<26}" for column in columns)]
    for name in COMPARED:
        parts = (_brief(_share(arms[name])) for arms in columns.values())
        lines.append(f"  {name:<44}" + "".join(f"{part:<26}" for part in parts))
    return "\n".join(lines)


def _distractors(count: int) -> dict[str, dict[str, list[Record]]]:
    columns = {}
    for crowding in (0.05, 0.0):
        for things in (6, 14, 22):
            abilities = replace(Abilities(), crowding=crowding)
            label = f"{things}" + ("" if crowding else ", no crowding")
            columns[label] = {name: _played(cases(count, things), ARMS[name], abilities) for name in COMPARED}
    return columns


def _abilities(count: int, field: str, values: Sequence[float]) -> dict[str, dict[str, list[Record]]]:
    questions = cases(count, THINGS)
    return {
        f"{value}": {
            name: _played(questions, ARMS[name], replace(Abilities(), **{field: value})) for name in COMPARED
        }
        for value in values
    }


def _stopping(count: int) -> str:
    """How often the rule ends a debate of five rounds early, what that saves, and what it costs."""
    rules = {
        "never": Bdog(rounds=5, epsilon=None),
        "epsilon 0": Bdog(rounds=5),
        "epsilon 1": Bdog(rounds=5, epsilon=1),
        "epsilon 2": Bdog(rounds=5, epsilon=2),
        "epsilon 4": Bdog(rounds=5, epsilon=4),
        "epsilon 2, growth not counted": Bdog(rounds=5, epsilon=2, count_added=False),
        "epsilon 2, the two sides compared": Bdog(rounds=5, epsilon=2, stop_on="intra"),
        "majority vote of as many calls": Bdog(rounds=5, mode="majority_vote"),
    }
    lines = [f"{'the stopping rule, five rounds at most':<40} fired   rounds  calls   right"]
    questions = cases(count, THINGS)
    for name, options in rules.items():
        records = _played(questions, options, Abilities())
        fired = sum(r.why_ended == "agreed" for r in records) / len(records)
        rounds = fmean(r.end_round or 0 for r in records)
        calls = fmean(r.calls for r in records)
        lines.append(f"  {name:<38} {fired:>6.1%} {rounds:>7.2f} {calls:>6.1f}   {_share(records)}")
    return "\n".join(lines)


def _brief(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.1%} [{low:.1%}, {high:.1%}]"


if __name__ == "__main__":
    main()
