"""`pyvision replay`: run the cells of a recorded run again, or continue it from one of its turns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.exit_codes import exit_code
from pyvision.cli.flags import (
    add_model,
    add_recorded_run,
    add_repeated,
    count,
    find_recorded_run,
    pairs,
    parse_pairs,
)
from pyvision.errors import ConfigError, reason

if TYPE_CHECKING:
    from pyvision.runs.replay import Fork, Rerun
    from pyvision.runs.run import Run
    from pyvision.types import Picture
    from sandbox import CellResult

_DIFFERS = 3
_REPLAY = """\
Run the cells of a recorded run again, or continue the run from one of its turns.
Without --from, the recorded cells run in a fresh kernel, without a model, and the first difference in each cell is
printed. The exit code is 0 if all results are the same, 3 if any differs. With --from and --edit, the cell of that
turn is replaced, and later cells are not run. With --model or --config, that model continues the run from there, in a
new run folder. With --figure, cells and models see another image in place of a recorded figure."""


def add_replay(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare `replay` and its flags."""
    parser = commands.add_parser("replay", description=_REPLAY)
    add_recorded_run(parser)
    add = parser.add_argument
    add("--from", dest="turn", type=count, metavar="K", help="the turn to continue from, counted from 1")
    add("--edit", type=Path, metavar="FILE", help="Python code to run instead of the cell of that turn")
    add(
        "--figure",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="show an image file in place of the figure image_clue_k; repeatable",
    )
    add_model(parser, "the model that continues the run; see `pyvision run --help`")
    add_repeated(parser, "--role", "another model for one role of the strategy; repeatable")
    add_repeated(parser, "--tool", "another provider for a tool (default: the recorded one); repeatable")
    add_repeated(parser, "--set", "change an option of the strategy; repeatable")
    add("--out", type=Path, metavar="DIR", help="the folder of the continued run (default: RUN_DIR-from-K)")
    parser.set_defaults(call=replay_run)


def replay_run(options: argparse.Namespace) -> int:
    """Replay or fork; returns the exit code."""
    from pyvision.runs.run import read_run

    recorded = read_run(find_recorded_run(options))
    return _replay(recorded, options) if options.turn is None else _fork(recorded, options)


def _replay(recorded: Run, options: argparse.Namespace) -> int:
    from pyvision.runs.replay import rerun

    unusable = [
        name
        for name in ("edit", "model", "config", "set", "role", "tool", "figure")
        if getattr(options, name)
    ]
    if unusable:
        raise ConfigError(f"--{unusable[0]} needs the turn to continue from: add --from K")
    differing = [_print_comparison(each) for each in rerun(recorded)]
    cells = "1 cell" if len(differing) == 1 else f"{len(differing)} cells"
    _print(f"{cells}, {sum(differing)} different" if differing else "no cells to run")
    return _DIFFERS if any(differing) else 0


def _print_comparison(again: Rerun) -> bool:
    """Print how one cell compares with its record; returns whether it differs."""
    verdict = (
        str(again.difference) if again.difference else f"same ({again.now.status}, {again.now.seconds:.1f} s)"
    )
    _print(f"turn {again.turn}, cell {again.cell}: {verdict}")
    return again.difference is not None


def _fork(recorded: Run, options: argparse.Namespace) -> int:
    from pyvision.runs.replay import Fork
    from pyvision.runs.replay.fork import read_replies

    fork = Fork(
        options.turn,
        _read_code(options.edit),
        parse_pairs(options, "--set"),
        _read_figures(pairs("--figure", options.figure, "image_clue_1=crop.png")),
        parse_pairs(options, "--tool"),
    )
    read_replies(recorded, fork)  # raises for a missing turn before anything starts
    if options.model or options.config:
        return _continue(recorded, fork, options)
    if fork.code is None:
        raise ConfigError("--from K needs --edit FILE or --model NAME as well")
    return _run_edited(recorded, fork, fork.code)


def _run_edited(recorded: Run, fork: Fork, code: str) -> int:
    """Run the cells before the turn, then the edited one, and print its output."""
    from pyvision.runs.replay import open_session, rerun_cells

    with open_session(recorded, fork) as session:
        differing = [
            _print_comparison(each) for each in rerun_cells(recorded, session, before_turn=fork.turn)
        ]
        result = session.run(code)
    _print(
        f"turn {fork.turn}, the edited cell: {result.status}, {result.seconds:.1f} s, {len(result.figures)} figures"
    )
    _print_output(result)
    return _DIFFERS if any(differing) else 0


def _continue(recorded: Run, fork: Fork, options: argparse.Namespace) -> int:
    """Like `pyvision run`, except that the recorded replies come first."""
    from pyvision.cli.commands.run import solve_shown
    from pyvision.cli.progress import Progress
    from pyvision.events import Event
    from pyvision.runs.replay import fork_task, with_figures
    from pyvision.runs.replay.fork import read_tools
    from pyvision.solve import offer_offline_modules
    from pyvision.trajectory import TrajectoryWriter
    from sandbox import Sandbox

    roles = parse_pairs(options, "--role")
    task = fork_task(recorded, fork, model=options.model, config=options.config, roles=roles)
    _print_tools(read_tools(recorded, fork))
    source = recorded.folder.absolute()
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
    with task, Sandbox(offer_offline_modules(task.policy)) as plain_sandbox:
        sandbox = with_figures(
            recorded, fork, plain_sandbox
        )  # raises for an unknown figure before a folder is made
        with (
            TrajectoryWriter(folder, setup, secrets=task.secrets) as trajectory,
            Progress(folder) as progress,
        ):

            def watch(event: Event) -> None:
                trajectory.write(event)
                progress.show(event)

            outcome = solve_shown(task, watch, progress, sandbox)
    if outcome.answer is not None:
        _print(outcome.answer)
    return exit_code(outcome.end_reason)


def _print_tools(tools: Mapping[str, str]) -> None:
    if tools:
        recorded = ", ".join(f"{name}={provider}" for name, provider in tools.items())
        print(f"tools as recorded: {recorded}; use --tool to change one", file=sys.stderr)  # noqa: T201 - progress


def _read_figures(files: Mapping[str, str]) -> dict[str, Picture]:
    from pyvision.images.read import read

    return {name: read(file) for name, file in files.items()}


def _read_code(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"--edit {str(path)!r}: cannot be read ({reason(error)}); give a Python file"
        ) from error


def _print_output(result: CellResult) -> None:
    if result.text:
        _print(result.text.rstrip("\n"))
    if result.error:
        _print(result.error.traceback or f"{result.error.name}: {result.error.message}")


def _print(text: str) -> None:
    """Print text that a guest may have written, without terminal escapes."""
    from pyvision.text.sanitize import printable

    print(printable(text), flush=True)  # noqa: T201 - what the command is for
