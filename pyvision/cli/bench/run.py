"""`pyvision bench run`: answer every sample of a dataset once, or go on with a run that was broken off."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.cli.bench.grade import add_judge, add_most_unscored
from pyvision.cli.flags import above_zero, count, pairs, share

if TYPE_CHECKING:
    from pyvision.bench.plan import Plan
    from pyvision.bench.runner import Ran

_EXIT = {"model_error": 4, "sandbox_error": 5}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a name of `bench list`, a file or folder, or synthetic/NAME")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", metavar="NAME", help="offline, openai, vllm … or NAME:MODEL-ID")
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration file (JSON)")
    add(
        "--strategy",
        default="code_loop",
        metavar="NAME",
        help="code_loop (default), vdebugger, avis, bdog or direct",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the strategy; repeatable",
    )
    add(
        "--role",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="another model for one role; repeatable",
    )
    add(
        "--tool",
        action="append",
        default=[],
        metavar="TOOL=PROVIDER[:WHERE]",
        help="who provides a tool of the strategy; repeatable",
    )
    add(
        "--arm",
        default="tools",
        metavar="NAME",
        help="of an audit; see `bench list` (default: tools, as it is)",
    )
    add("--donors", type=Path, metavar="DIR", help="the run whose figures the arm `swapped` shows")
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
    _add_limits(parser)
    add_most_unscored(parser)
    add("--json", action="store_true", help="print one JSON object at the end")


def run(options: argparse.Namespace) -> int:
    """Run the experiment; returns the exit code."""
    from pyvision.bench.runner import Stopped
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
    return exit_code(print_result(ran.folder, as_json=options.json), options.most_unscored)


def _run(options: argparse.Namespace) -> Ran:
    from pyvision.bench.progress import Progress
    from pyvision.bench.runner import run as run_plan

    with Progress() as progress:
        return run_plan(plan_of(options), progress)


def _run_judged(options: argparse.Namespace) -> Ran:
    """By the rules while it runs; the judge, who is looked for before anything is paid, comes at the end."""
    from pyvision.bench.progress import counting
    from pyvision.bench.regrading import judge_run, ready_judge

    with ready_judge(options.judge) as judge:
        ran = _run(options)
        if not ran.was_stopped:
            judge_run(ran.folder, None, judge, workers=options.workers, watch=counting("judged"))
    return ran


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the flags stand for. Raises ConfigError."""
    from pyvision.bench.plan import Plan
    from pyvision.bench.sources import find_source
    from pyvision.budget import Limits
    from sandbox import Policy

    source = find_source(
        options.dataset, count=options.count, seed=options.seed, difficulty=options.difficulty
    )
    settings = {
        "strategy": options.strategy,
        "model": options.model,
        "config": options.config,
        "roles": pairs("--role", options.role, "solver=openai:gpt-4.1"),
        "tools": pairs("--tool", options.tool, "detect=model"),
        "options": pairs("--set", options.set, "repairs=2"),
        "limits": Limits(**{budget.name: getattr(options, budget.name) for budget in fields(Limits)}),
        "policy": Policy(cell_timeout_s=options.cell_timeout),
        "prices": options.prices,
    }
    return Plan(
        source,
        settings,
        limit=options.limit,
        repeats=options.repeat,
        workers=options.workers,
        folder=options.out,
        metric=options.metric,
        engine=options.engine,
        arm=options.arm,
        donors=options.donors,
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """Those of one sample; the same as of `pyvision run`."""
    add = parser.add_argument
    add("--max-turns", type=count, default=20, metavar="N", help="replies for one sample (default 20)")
    add("--max-tokens", type=count, default=2_000_000, metavar="N", help="tokens (default 2,000,000)")
    add("--max-pictures", type=count, metavar="N", help="different pictures shown to the model")
    add("--max-bytes", type=count, metavar="N", help="bytes sent to the model")
    add("--max-seconds", type=above_zero, default=1800.0, metavar="S", help="time (default 1800)")
    add("--max-uses", type=count, default=500, metavar="N", help="uses of tools (default 500)")
    add("--max-cost", type=above_zero, metavar="X", help="money, by the price table")
    add("--prices", type=Path, metavar="FILE", help="a price table (default: PYVISION_PRICES)")
    add("--cell-timeout", type=above_zero, default=30.0, metavar="S", help="time for one cell (default 30)")


def _failed(message: str, code: int) -> int:
    print(f"pyvision: {message}", file=sys.stderr)  # noqa: T201 - one line, as everywhere
    return code
