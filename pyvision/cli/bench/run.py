"""`pyvision bench run` and `grade`: answer every sample of a dataset, and score recorded answers again."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.exit_codes import INTERRUPTED, NO_ANSWER, exit_code, fail
from pyvision.cli.flags import (
    Deprecated,
    add_generated_set,
    add_limits,
    add_model,
    add_part,
    add_repeated,
    add_strategy,
    count,
    settings_of,
    share,
)

if TYPE_CHECKING:
    from pyvision.bench.runner.plan import Plan
    from pyvision.bench.runner.run import ExperimentResult


def add_run(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench run` and its flags."""
    parser = add_part(
        parts, "run", "answer every sample of a dataset, or resume an earlier run", run_experiment
    )
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a name from `bench list`, a file or folder, or synthetic/NAME")
    add_model(parser)
    add_strategy(parser)
    for flag in ("--set", "--role", "--tool"):
        add_repeated(parser, flag)
    add(
        "--ablation",
        default="tools",
        metavar="NAME",
        help="change what the model gets, for `bench audit`; see `bench list` (default: tools, no change)",
    )
    add(
        "--swap-from",
        type=Path,
        metavar="DIR",
        help="the experiment whose figures --ablation swapped shows, or whose results result_only shows",
    )
    add("--arm", action=Deprecated, new="--ablation")
    add("--donors", action=Deprecated, new="--swap-from", type=Path)
    add("--limit", type=count, metavar="N", help="only the first N samples")
    add("--repeat", type=count, default=1, metavar="K", help="answers per sample (default 1)")
    add("--workers", type=count, default=4, metavar="K", help="samples answered in parallel (default 4)")
    add(
        "--wait",
        action="store_true",
        help="when the endpoint fails again and again, pause and probe it instead of ending the run",
    )
    add("--engine", default="threads", metavar="NAME", help="threads (default), or ray for a cluster")
    add("--out", type=Path, metavar="DIR", help="the folder of the experiment (default: one in runs/bench)")
    add("--metric", metavar="NAME[:FLAVOUR]", help="how to grade (default: the metric of the dataset)")
    _add_judge(parser)
    add_generated_set(parser)
    _add_max_unscored_ratio(parser)
    add("--json", action="store_true", help="print a JSON object at the end")
    add_limits(parser)


def add_grade(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench grade` and its flags."""
    parser = add_part(
        parts, "grade", "score recorded answers again, with the same or another metric", grade_experiment
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    add(
        "--metric",
        metavar="NAME[:FLAVOUR]",
        help="the metric, which becomes the default of reports (default: the current one)",
    )
    _add_judge(parser)
    add("--workers", type=count, default=4, metavar="K", help="answers judged in parallel (default 4)")
    _add_max_unscored_ratio(parser)
    add("--json", action="store_true", help="print a JSON object")


def run_experiment(options: argparse.Namespace) -> int:
    """Run the experiment; returns the exit code."""
    from pyvision.bench.runner.run import Stopped

    try:
        with output_on_stderr():
            ran = _run_judged(options) if options.judge else _run_plan(options)
    except Stopped as stopped:
        return fail(f"{stopped}; run the same command to resume", exit_code(stopped.end_reason))
    if ran.was_stopped:
        return fail("interrupted; run the same command to resume", INTERRUPTED)
    return _exit_code(_print_result(ran.folder, as_json=options.json), options.max_unscored_ratio)


def grade_experiment(options: argparse.Namespace) -> int:
    """Grade, record the scores, print the result; returns the exit code."""
    from pyvision.bench.regrading import judge_run, open_judge, regrade
    from pyvision.bench.runner.progress import print_counts

    if options.judge:
        with open_judge(options.judge) as judge:
            watch = print_counts("judged")
            judge_run(options.folder, options.metric, judge, workers=options.workers, watch=watch)
    else:
        regrade(options.folder, options.metric)
    found = _print_result(options.folder, as_json=options.json)
    return _exit_code(found, options.max_unscored_ratio)


@contextmanager
def output_on_stderr() -> Iterator[None]:
    """Send to standard error what libraries and the processes that they start, such as Ray's, print meanwhile.

    Standard output then holds nothing but the result.
    """
    sys.stdout.flush()
    try:
        saved = os.dup(1)
    except OSError:  # it is closed: there is nothing to keep clean
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the flags describe. Raises ConfigError."""
    from pyvision.bench.datasets.sources import find_source
    from pyvision.bench.runner.plan import Plan

    source = find_source(
        options.dataset, count=options.count, seed=options.seed, difficulty=options.difficulty
    )
    return Plan(
        source,
        settings_of(options),
        limit=options.limit,
        repeats=options.repeat,
        workers=options.workers,
        folder=options.out,
        metric=options.metric,
        engine=options.engine,
        ablation=options.ablation,
        swap_from=options.swap_from,
        waits=options.wait,
    )


def _run_plan(options: argparse.Namespace) -> ExperimentResult:
    from pyvision.bench.runner.progress import ExperimentProgress
    from pyvision.bench.runner.run import run as run_plan

    with ExperimentProgress() as progress:
        return run_plan(plan_of(options), progress)


def _run_judged(options: argparse.Namespace) -> ExperimentResult:
    """Grade by rules during the run and by the judge at its end; the judge is checked before any sample is answered."""
    from pyvision.bench.regrading import judge_run, open_checked_judge
    from pyvision.bench.runner.progress import print_counts

    with open_checked_judge(options.judge) as judge:
        ran = _run_plan(options)
        if not ran.was_stopped:
            judge_run(ran.folder, None, judge, workers=options.workers, watch=print_counts("judged"))
    return ran


def _print_result(folder: Path, *, as_json: bool) -> dict[str, Any]:
    """Print the counts on standard output in one line, and return them."""
    found = _read_result(folder)
    print(json.dumps(found, ensure_ascii=False) if as_json else _format_result(found))  # noqa: T201 - the result
    return found


def _read_result(folder: Path) -> dict[str, Any]:
    """The counts of an experiment by its default metric, as plain values."""
    from pyvision.bench.runner.progress import read_running_totals
    from pyvision.bench.store import Store

    with Store(folder) as store:
        judged = sum(score.judge is not None for score in store.scores().values())
        about = {"run_dir": str(folder), "metric": store.default_metric, "judged": judged}
        return {**about, **read_running_totals(store).summary()}


def _format_result(found: dict[str, Any]) -> str:
    from pyvision.bench.grading import JUDGE, describe_metric

    accuracy = "nothing scored" if found["accuracy"] is None else f"{found['accuracy']:.4f}"
    judged = (f"judged: {found['judged']}",) if JUDGE in (found["metric"] or "") else ()
    unscored = ", ".join(f"{reason} {count}" for reason, count in found["unscored"].items()) or "none"
    return " · ".join(
        (
            f"{accuracy} over {found['scored']} by {describe_metric(found['metric'])}",
            *judged,
            f"unscored: {unscored}",
            f"without a cell: {found['without_cells']}",
            found["run_dir"],
        )
    )


def _exit_code(found: dict[str, Any], max_unscored_ratio: float) -> int:
    """3 if a larger share of the samples is unscored."""
    return NO_ANSWER if sum(found["unscored"].values()) > max_unscored_ratio * found["done"] else 0


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge",
        metavar="MODEL",
        help="a model, as --model takes it, or FILE.json, that grades the answers that the rules cannot grade",
    )


def _add_max_unscored_ratio(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-unscored-ratio",
        type=share,
        default=0.05,
        metavar="X",
        help="exit with code 3 if more samples than this share are unscored (default 0.05)",
    )
    parser.add_argument("--most-unscored", action=Deprecated, new="--max-unscored-ratio", type=share)
