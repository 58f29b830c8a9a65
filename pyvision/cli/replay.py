"""`pyvision replay`: run the cells of a record again and compare, or go on from one of its turns in another way."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import pairs
from pyvision.cli.settings import add_model, add_repeated, parse_pairs
from pyvision.errors import ConfigError, reason

if TYPE_CHECKING:
    from pyvision.runs.replay import Fork, Rerun
    from pyvision.runs.report import Run
    from pyvision.types import Picture
    from sandbox import CellResult

_DIFFERS, _NO_ANSWER, _NO_ISOLATION = 3, 3, 5
_EXIT = {
    "answered": 0,
    "model_error": 4,
    "sandbox_error": 5,
    "interrupted": 130,
    "error": 1,
}  # as `pyvision run`
_DESCRIPTION = """\
Runs the recorded cells in a fresh kernel, without a model, and names the first difference of each: exit code 0 where
all is the same, 3 where anything differs. With --from and --edit the cell of a turn is replaced and those after it
are not run; with --model (or --config) that model goes on from there, in a run folder of its own. With --figure cells
and models see another picture in the place of a figure."""


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "replay",
        description=_DESCRIPTION,
    )
    add = parser.add_argument
    add("run_dir", type=Path, metavar="RUN_DIR", help="the folder of a run")
    add("--from", dest="turn", type=int, metavar="K", help="the turn to go on from, counted from 1")
    add("--edit", type=Path, metavar="FILE", help="Python to run in place of the cell of that turn")
    add_model(parser, "who goes on; see pyvision run --help")
    add_repeated(parser, "--role", "another model for one role of the strategy, for the model's way on")
    add_repeated(
        parser, "--tool", "who provides a tool, for the model's way on (default: who did so on record)"
    )
    add(
        "--figure",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a picture to be seen in the place of the figure image_clue_k",
    )
    add_repeated(parser, "--set", "an option of the strategy, for the model's way on")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="the folder of the run that goes on (default: RUN_DIR-from-K)",
    )
    parser.set_defaults(call=run)


def run(options: argparse.Namespace) -> int:
    """Replay or fork; returns the exit code."""
    from pyvision.runs.report import read_run
    from sandbox import SandboxError

    recorded = read_run(options.run_dir)
    try:
        if options.turn is None:
            return _replay(recorded, options)
        return _go_on(recorded, options)
    except SandboxError as error:
        print(f"pyvision: {error}", file=sys.stderr)  # noqa: T201 - as `main` says errors
        return _NO_ISOLATION


def _replay(recorded: Run, options: argparse.Namespace) -> int:
    from pyvision.runs.replay import rerun

    unusable = [
        name
        for name in ("edit", "model", "config", "set", "role", "tool", "figure")
        if getattr(options, name)
    ]
    if unusable:
        raise ConfigError(f"--{unusable[0]} says how to go on; say from which turn too: --from K")
    differing = [_format(each) for each in rerun(recorded)]
    cells = "1 cell" if len(differing) == 1 else f"{len(differing)} cells"
    _say(f"{cells}, {sum(differing)} of them different" if differing else "no cells to run")
    return _DIFFERS if any(differing) else 0


def _format(again: Rerun) -> bool:
    """Print how one cell went; whether it differs."""
    verdict = (
        str(again.difference) if again.difference else f"same ({again.now.status}, {again.now.seconds:.1f} s)"
    )
    _say(f"turn {again.turn}, cell {again.cell}: {verdict}")
    return again.difference is not None


def _go_on(recorded: Run, options: argparse.Namespace) -> int:
    from pyvision.runs.replay import Fork
    from pyvision.runs.replay.fork import read_replies

    fork = Fork(
        options.turn,
        _code(options.edit),
        parse_pairs(options, "--set"),
        _figures(pairs("--figure", options.figure, "image_clue_1=crop.png")),
        parse_pairs(options, "--tool"),
    )
    read_replies(recorded, fork)  # refuses a turn that is not there before anything starts
    if options.model or options.config:
        return _ask_on(recorded, fork, options)
    if fork.code is None:
        raise ConfigError("--from K needs something to do there: --edit FILE, or --model NAME")
    return _run_on(recorded, fork, fork.code)


def _run_on(recorded: Run, fork: Fork, code: str) -> int:
    """The cells before the turn, then the edited one, and what it gives."""
    from pyvision.runs.replay import open_session, rerun_cells

    with open_session(recorded, fork) as session:
        differing = [_format(each) for each in rerun_cells(recorded, session, before_turn=fork.turn)]
        result = session.run(code)
    _say(
        f"turn {fork.turn}, the edited cell: {result.status}, {result.seconds:.1f} s, {len(result.figures)} figures"
    )
    _say_output(result)
    return _DIFFERS if any(differing) else 0


def _ask_on(recorded: Run, fork: Fork, options: argparse.Namespace) -> int:
    """The same as `pyvision run`, but for the replies that are on record."""
    from pyvision.cli.progress import Progress
    from pyvision.events import Event
    from pyvision.runs.replay import fork_task, with_figures
    from pyvision.runs.replay.fork import read_tools
    from pyvision.solve import offer_offline_modules, solve
    from pyvision.trajectory import TrajectoryWriter
    from sandbox import Sandbox

    roles = parse_pairs(options, "--role")
    task = fork_task(recorded, fork, model=options.model, config=options.config, roles=roles)
    _tell_of(read_tools(recorded, fork))
    source = options.run_dir.absolute()
    folder = options.out or source.with_name(f"{source.name}-from-{fork.turn}")
    setup = {
        **task.config.to_dict(),
        "forked": {
            "run": str(recorded.folder),
            "turn": fork.turn,
            "edited": fork.code is not None,
            "figures": list(fork.figures),
        },
    }
    with (
        task,
        Sandbox(offer_offline_modules(task.policy)) as rooms,
        TrajectoryWriter(folder, setup, secrets=task.secrets) as trajectory,
        Progress(folder) as progress,
    ):
        sandbox = with_figures(recorded, fork, rooms)

        def watch(event: Event) -> None:
            trajectory.write(event)
            progress.show(event)

        outcome = solve(task, watch, sandbox)
    if outcome.answer is not None:
        _say(outcome.answer)
    return _EXIT.get(outcome.end_reason, _NO_ANSWER)


def _tell_of(tools: Mapping[str, str]) -> None:
    if tools:
        told = ", ".join(f"{name}={provider}" for name, provider in tools.items())
        print(f"tools as on record: {told}; --tool changes one", file=sys.stderr)  # noqa: T201 - as progress goes


def _figures(files: Mapping[str, str]) -> dict[str, Picture]:
    from pyvision.images.read import read

    return {name: read(file) for name, file in files.items()}


def _code(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"--edit {str(path)!r}: cannot be read ({reason(error)}); give a file of Python"
        ) from error


def _say_output(result: CellResult) -> None:
    if result.text:
        _say(result.text.rstrip("\n"))
    if result.error:
        _say(result.error.traceback or f"{result.error.name}: {result.error.message}")


def _say(text: str) -> None:
    """Text that a guest may have printed: no terminal escape reaches the terminal."""
    from pyvision.text.sanitize import printable

    print(printable(text), flush=True)  # noqa: T201 - what the command is for
