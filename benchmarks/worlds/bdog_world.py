"""Measure the debate on graphs, its ablations and equal-cost baselines in a simulated world with known answers.

python -m benchmarks.worlds.bdog_world [--count N] [--nlvr FOLDER]

Everything is scripted; `benchmarks.worlds.debates.models` lists the assumptions. The tables follow from them: they
show whether the implementation works, and what a gain would depend on, not that any real model gains. Intervals are
Wilson's, 95 %. The default count takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import MODES, Case, cases, misprints, play, play_samples
from benchmarks.worlds.debates.scenes import KINDS
from pyvision.experiments.bdog_analysis.statistics import Share, statistics_of, table
from pyvision.runs.report.debates import DebateRecord, is_right
from pyvision.strategies.bdog import Bdog

SHAPES = 10  # in a scene, unless a table varies them
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
        "--nlvr", type=Path, metavar="FOLDER", help="also debate these NLVR samples: samples.jsonl and images"
    )
    options = parser.parse_args(arguments)
    print(report(options.count))
    if options.nlvr:
        print(play_samples(options.nlvr))


def report(count: int) -> str:
    """All tables, with `count` questions in each cell."""
    results = {name: _play_all(cases(count, SHAPES), mode, Abilities()) for name, mode in MODES.items()}
    return "\n\n".join(
        [
            f"{count} questions in each cell, {SHAPES} shapes in a scene unless stated otherwise; {Abilities()}",
            _modes(results),
            _kinds(results, count),
            _vary("shapes in the scene", _distractors(count)),
            _vary(
                "judgement error (0.5: random)",
                _abilities(count, "judgement", (0.1, 0.25, 0.5)),
            ),
            _vary("share of systematic errors", _abilities(count, "shared", (0.0, 0.4, 0.8))),
            _stopping(count),
            "statistics of the debates\n\n"
            + table(statistics_of([r for rs in results.values() for r in rs])),
            misprints(),
        ]
    )


def _play_all(questions: Sequence[Case], options: Bdog, abilities: Abilities) -> list[DebateRecord]:
    return [play(case, options, abilities) for case in questions]


def _share(records: Sequence[DebateRecord]) -> Share:
    return Share(sum(is_right(r.answer, r.target or "") for r in records), len(records))


def _modes(results: Mapping[str, Sequence[DebateRecord]]) -> str:
    lines = ["the modes                                                   calls  tokens (characters / 4)"]
    for name, records in results.items():
        calls, tokens = fmean(r.calls for r in records), fmean(r.tokens for r in records)
        lines.append(f"  {name:<16} {_share(records)!s:<38} {calls:>6.1f} {tokens:>8.0f}")
    return "\n".join(lines)


def _kinds(results: Mapping[str, Sequence[DebateRecord]], count: int) -> str:
    lines = ["by kind of question      " + "".join(f"{kind:<26}" for kind in KINDS)]
    for name, records in results.items():
        parts = (_share(records[index :: len(KINDS)]) for index in range(min(len(KINDS), count)))
        lines.append(f"  {name:<22} " + "".join(f"{_brief(part):<26}" for part in parts))
    return "\n".join(lines)


def _vary(what: str, columns: Mapping[str, Mapping[str, Sequence[DebateRecord]]]) -> str:
    lines = [f"{what:<46}" + "".join(f"{column:<26}" for column in columns)]
    for name in COMPARED:
        parts = (_brief(_share(modes[name])) for modes in columns.values())
        lines.append(f"  {name:<44}" + "".join(f"{part:<26}" for part in parts))
    return "\n".join(lines)


def _distractors(count: int) -> dict[str, dict[str, list[DebateRecord]]]:
    columns = {}
    for crowding in (0.05, 0.0):
        for shapes in (6, 14, 22):
            abilities = replace(Abilities(), crowding=crowding)
            label = f"{shapes}" + ("" if crowding else ", no crowding")
            columns[label] = {
                name: _play_all(cases(count, shapes), MODES[name], abilities) for name in COMPARED
            }
    return columns


def _abilities(count: int, field: str, values: Sequence[float]) -> dict[str, dict[str, list[DebateRecord]]]:
    questions = cases(count, SHAPES)
    return {
        f"{value}": {
            name: _play_all(questions, MODES[name], replace(Abilities(), **{field: value}))
            for name in COMPARED
        }
        for value in values
    }


def _stopping(count: int) -> str:
    """How often the rule ends a debate of five rounds early, and the effect on calls and accuracy."""
    rules = {
        "never": Bdog(rounds=5, epsilon=None),
        "epsilon 0": Bdog(rounds=5),
        "epsilon 1": Bdog(rounds=5, epsilon=1),
        "epsilon 2": Bdog(rounds=5, epsilon=2),
        "epsilon 4": Bdog(rounds=5, epsilon=4),
        "epsilon 2, additions not counted": Bdog(rounds=5, epsilon=2, count_added=False),
        "epsilon 2, sides compared": Bdog(rounds=5, epsilon=2, stop_on="intra"),
        "majority vote, as many calls": Bdog(rounds=5, mode="majority_vote"),
    }
    lines = [f"{'stopping rule, at most five rounds':<40} fired   rounds  calls   right"]
    questions = cases(count, SHAPES)
    for name, options in rules.items():
        records = _play_all(questions, options, Abilities())
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
