"""`pyvision bench run`: answer every sample of a dataset once, or go on with a run that was broken off."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.cli.bench.grade import add_judge, add_max_unscored_ratio
from pyvision.cli.flags import Deprecated, count, share
from pyvision.cli.settings import add_limits, add_model, add_repeated, add_strategy, settings_of

if TYPE_CHECKING:
    from pyvision.bench.runner.plan import Plan
    from pyvision.bench.runner.run import ExperimentResult

_EXIT = {"model_error": 4, "sandbox_error": 5}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a name of `bench list`, a file or folder, or synthetic/NAME")
    add_model(parser)
    add_strategy(parser)
    for flag in ("--set", "--role", "--tool"):
        add_repeated(parser, flag)
    add(
        "--ablation",
        default="tools",
        metavar="NAME",
        help="of an audit; see `bench list` (default: tools, as it is)",
    )
    add("--swap-from", type=Path, metavar="DIR", help="the run whose figures the ablation `swapped` shows")
    add("--arm", action=Deprecated, new="--ablation")
    add("--donors", action=Deprecated, new="--swap-from", type=Path)
    add("--limit", type=count, metavar="N", help="only the first samples")
    add("--repeat", type=count, default=1, metavar="K", help="answer each sample so often (default 1)")
    add("--workers", type=count, default=4, metavar="K", help="samples at once (default 4)")
    add("--engine", default="threads", metavar="NAME", help="threads (default), or ray: over a cluster")
    add("--out", type=Path, metavar="DIR", help="the folder of this experiment (default: one in runs/bench)")
    add("--metric", metavar="NAME[:FLAVOUR]", help="how to grade (default: the dataset's own way)")
    add_judge(parser)
    add("--count", type=count, default=100, metavar="N", help="samples to generate (default 100)")
    add("--seed", type=int, default=0, metavar="N", help="of generated samples (default 0)")
    add(
        "--difficulty",
        type=share,
        default=0.5,
        metavar="X",
        help="of generated samples, 0 to 1 (default 0.5)",
    )
    add_limits(parser)
    add_max_unscored_ratio(parser)
    add("--json", action="store_true", help="print one JSON object at the end")


def run(options: argparse.Namespace) -> int:
    """Run the experiment; returns the exit code."""
    from pyvision.bench.runner.run import Stopped
    from pyvision.cli.bench.result import exit_code, print_result
    from sandbox import SandboxError

    try:
        ran = _run_judged(options) if options.judge else _run(options)
    except Stopped as stopped:
        return _failed(f"{stopped}; the same command goes on from here", _EXIT.get(stopped.end_reason, 1))
    except SandboxError as error:
        return _failed(str(error), _EXIT["sandbox_error"])
    if ran.was_stopped:
        return _failed("interrupted; the same command goes on from here", 130)
    return exit_code(print_result(ran.folder, as_json=options.json), options.max_unscored_ratio)


def _run(options: argparse.Namespace) -> ExperimentResult:
    from pyvision.bench.runner.progress import Progress
    from pyvision.bench.runner.run import run as run_plan

    with Progress() as progress:
        return run_plan(plan_of(options), progress)


def _run_judged(options: argparse.Namespace) -> ExperimentResult:
    """By the rules while it runs; the judge, who is looked for before anything is paid, comes at the end."""
    from pyvision.bench.regrading import judge_run, open_checked_judge
    from pyvision.bench.runner.progress import counting

    with open_checked_judge(options.judge) as judge:
        ran = _run(options)
        if not ran.was_stopped:
            judge_run(ran.folder, None, judge, workers=options.workers, watch=counting("judged"))
    return ran


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the flags stand for. Raises ConfigError."""
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
    )


def _failed(message: str, code: int) -> int:
    print(f"pyvision: {message}", file=sys.stderr)  # noqa: T201 - one line, as everywhere
    return code
