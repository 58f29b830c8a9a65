"""`pyvision run`: answer one question; the answer goes to standard output, progress to standard error."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import above_zero, count, pairs
from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.events import Event
    from pyvision.solve import Task

_EXIT = {"answered": 0, "model_error": 4, "sandbox_error": 5, "interrupted": 130, "error": 1}
_NO_ANSWER = 3
_PRICES_HELP = (
    'a price table, money for a million tokens: {"gpt-4.1*": {"input": 2, "cached": 0.5, "output": 8}} '
    "(default: PYVISION_PRICES)"
)


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "run",
        help="answer one question about one or several images",
        description="Answer one question about images. The answer alone is printed on standard output.",
    )
    add = parser.add_argument
    add("--image", action="append", required=True, metavar="FILE", help="a picture; repeat it for more")
    add("--question", required=True, metavar="TEXT", help="what to find out")
    add(
        "--strategy",
        default="code_loop",
        metavar="NAME",
        help="code_loop (default), vdebugger, avis, bdog or direct",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--model", metavar="NAME", help="offline, openai, vllm … or NAME:MODEL-ID; see api_configs/"
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration file (JSON)")
    add(
        "--role",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="another model for one role of the strategy; repeatable",
    )
    add(
        "--tool",
        action="append",
        default=[],
        metavar="TOOL=PROVIDER[:WHERE]",
        help="who provides a tool of the strategy, as in detect=hf:PATH; repeatable",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the strategy; repeatable",
    )
    add("--prompt-file", metavar="FILE", help="an upstream PyVision prompt JSON to use as it is")
    add("--prompt", metavar="KEY", help="which prompt of that file")
    add("--max-turns", type=count, default=20, metavar="N", help="replies asked of the model (default 20)")
    add("--max-tokens", type=count, default=2_000_000, metavar="N", help="tokens in all (default 2,000,000)")
    add("--max-pictures", type=count, metavar="N", help="different pictures shown to the model")
    add("--max-bytes", type=count, metavar="N", help="bytes sent to the model in all")
    add("--max-seconds", type=above_zero, default=1800.0, metavar="S", help="time in all (default 1800)")
    add("--max-uses", type=count, default=500, metavar="N", help="uses of tools (default 500)")
    add("--max-cost", type=above_zero, metavar="X", help="money in all, by the price table")
    add("--prices", type=Path, metavar="FILE", help=_PRICES_HELP)
    add("--cell-timeout", type=above_zero, default=30.0, metavar="S", help="time for one cell (default 30)")
    add("--out", type=Path, metavar="DIR", help="the folder of this run (default: a new one in runs/)")
    add("--json", action="store_true", help="print one JSON object instead of the bare answer")
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Answer the question of the command line; returns the exit code."""
    import json

    from pyvision.cli.progress import Progress
    from pyvision.solve import solve
    from pyvision.trajectory import TrajectoryWriter

    task = _task(options)
    folder = options.out or _new_folder()
    with (
        TrajectoryWriter(folder, task.setup, secrets=task.secrets) as trajectory,
        Progress(folder) as progress,
    ):

        def watch(event: Event) -> None:
            trajectory.write(event)
            progress.show(event)

        outcome = solve(task, watch)
        summary = trajectory.summary()
    if options.json:
        _print(json.dumps(summary, ensure_ascii=False), folder)
    elif outcome.answer is not None:
        _print(outcome.answer, folder)
    return _EXIT.get(outcome.end_reason, _NO_ANSWER)


def _task(options: argparse.Namespace) -> Task:
    from pyvision.budget import Limits
    from pyvision.solve import prepare
    from sandbox import Policy

    chosen = pairs("--set", options.set, "repairs=2")
    chosen |= {key: value for key in ("prompt_file", "prompt") if (value := getattr(options, key))}
    return prepare(
        options.question,
        options.image,
        strategy=options.strategy,
        model=options.model,
        config=options.config,
        roles=pairs("--role", options.role, "solver=openai:gpt-4.1"),
        tools=pairs("--tool", options.tool, "detect=model"),
        options=chosen,
        limits=Limits(**{budget.name: getattr(options, budget.name) for budget in fields(Limits)}),
        policy=Policy(cell_timeout_s=options.cell_timeout),
        prices=options.prices,
    )


def _new_folder() -> Path:
    return Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"


def _print(text: str, folder: Path) -> None:
    """An answer is the model's text: encoded whatever the terminal speaks."""
    try:
        sys.stdout.buffer.write((text + "\n").encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        why = f"standard output takes no answer ({error.strerror})"
        raise ConfigError(f"{why}; it stands in {str(folder / 'summary.json')!r}") from error
