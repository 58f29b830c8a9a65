"""`pyvision run`: answer one question. The answer goes to standard output, progress to standard error."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.exit_codes import exit_code
from pyvision.cli.flags import (
    add_limits,
    add_model,
    add_repeated,
    add_strategy,
    find_offline_hint,
    settings_of,
    use_settings,
)
from pyvision.cli.inputs import add_inputs, read_inputs
from pyvision.cli.main import discard_output
from pyvision.errors import ConfigError
from pyvision.text.sanitize import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyvision.agent.episode import Sandbox
    from pyvision.agent.task import Task
    from pyvision.cli.progress import Progress
    from pyvision.events import Event
    from pyvision.types import Outcome


def add_run(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "run",
        description="Answer one question about images. Only the answer is printed on standard output, "
        "without control characters if it goes to a terminal.",
    )
    add = parser.add_argument
    add_inputs(parser)
    add_strategy(parser)
    add_model(parser)
    for flag in ("--role", "--tool", "--set"):
        add_repeated(parser, flag)
    add("--prompt-file", type=Path, metavar="FILE", help="use a prompt file of the original PyVision (JSON)")
    add("--prompt", metavar="KEY", help="the prompt to use from that file")
    add_limits(parser)
    add("--out", type=Path, metavar="DIR", help="the folder of this run (default: a new folder in runs/)")
    add("--json", action="store_true", help="print a JSON object instead of only the answer")
    use_settings(parser)
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Answer the question; returns the exit code."""
    import json

    from pyvision.cli.progress import Progress
    from pyvision.trajectory import TrajectoryWriter

    folder = options.out or new_folder()
    with (
        _task(options) as task,
        TrajectoryWriter(folder, task.config.to_dict(), secrets=task.secrets) as trajectory,
        Progress(folder, offline_hint=find_offline_hint(options.model, options.config)) as progress,
    ):

        def watch(event: Event) -> None:
            trajectory.write(event)
            progress.show(event)

        outcome = solve_shown(task, watch, progress)
        summary = trajectory.summary()
    if options.json:
        _print(json.dumps(summary, ensure_ascii=False), folder)
    elif outcome.answer is not None:
        _print(printable(outcome.answer) if sys.stdout.isatty() else outcome.answer, folder)
    return exit_code(outcome.end_reason)


def solve_shown(
    task: Task, watch: Callable[[Event], None], progress: Progress, sandbox: Sandbox | None = None
) -> Outcome:
    """As `solve`, but an interrupt whose end `progress` has shown is an outcome, so that one line reports it."""
    from pyvision.solve import solve

    try:
        return solve(task, watch, sandbox)
    except KeyboardInterrupt:
        if progress.outcome is None:
            raise
        return progress.outcome


def _task(options: argparse.Namespace) -> Task:
    from pyvision.solve import prepare

    settings = settings_of(options)
    prompts = {key: str(value) for key in ("prompt_file", "prompt") if (value := getattr(options, key))}
    settings["options"] |= prompts
    question, images = read_inputs(options)
    return prepare(question, images, **settings)


def new_folder(prefix: str = "") -> Path:
    """A name for the folder of a run that is used by no other."""
    return Path("runs") / f"{prefix}{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"


def _print(text: str, folder: Path) -> None:
    try:
        print(text, flush=True)  # noqa: T201 - what the command is for
    except BrokenPipeError:
        raise  # its reader wants no more, which `main` turns into an exit code
    except OSError as error:
        discard_output()
        why = f"cannot write the answer to standard output ({error.strerror})"
        raise ConfigError(f"{why}; it is in {str(folder / 'summary.json')!r}") from error
