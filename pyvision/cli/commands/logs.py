"""`pyvision logs`: list, show, search and open recorded runs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.commands.report import open_report
from pyvision.cli.flags import add_part, count

if TYPE_CHECKING:
    from pyvision.runs.listing import RunInfo

_TEXT_CHARS = 60


def add_logs(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser("logs", description="List recorded runs, the newest first.")
    _add_list_flags(parser)
    parser.set_defaults(call=list_logs, text=None)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_list_flags(add_part(parts, "list", "list recorded runs, the newest first", list_logs))
    search = add_part(parts, "search", "list the runs that contain a text, ignoring case", list_logs)
    search.add_argument(
        "text", metavar="TEXT", help="the text to find in a question, a reply, code or output"
    )
    _add_list_flags(search)
    for name, purpose, call in (
        ("show", "print what happened in a run", show_log),
        ("open", "write the report of a run and open it in the browser", open_log),
    ):
        part = add_part(parts, name, purpose, call)
        part.add_argument(
            "run", nargs="?", metavar="RUN", help="a folder, or a part of its name (default: the last)"
        )
        _add_dir(part)


def list_logs(options: argparse.Namespace) -> int:
    """Print one line for each run; returns the exit code."""
    from pyvision.runs.listing import list_runs, search_runs

    text = getattr(options, "text", None)
    runs = list_runs(options.dir) if text is None else list(search_runs(options.dir, text))
    for info in runs[: options.number]:
        print(json.dumps(_plain(info), ensure_ascii=False) if options.json else _line(info))  # noqa: T201
    if not runs:
        found = "no runs" if text is None else f"no run with {text!r}"
        print(f"{found} in {str(options.dir)!r}", file=sys.stderr)  # noqa: T201
    elif len(runs) > options.number:
        more = f"{len(runs) - options.number} more; -n {len(runs)} shows all"
        print(more, file=sys.stderr)  # noqa: T201
    return 0


def show_log(options: argparse.Namespace) -> int:
    """Print the steps of a run as `run` shows them; returns the exit code."""
    from rich.console import Console

    from pyvision.cli.progress import Progress
    from pyvision.events import RunEnded
    from pyvision.runs.listing import find_run
    from pyvision.text.sanitize import printable
    from pyvision.trajectory import read_trajectory

    folder = find_run(options.run, options.dir)
    trajectory = read_trajectory(folder)
    progress = Progress(folder, Console(highlight=False))
    for event in trajectory.events:
        progress.show(event)
    ended = next((event for event in trajectory.events if isinstance(event, RunEnded)), None)
    for line in (trajectory.note, ended.outcome.answer if ended else None):
        if line:
            print(printable(line))  # noqa: T201 - what the command is for
    return 0


def open_log(options: argparse.Namespace) -> int:
    """Write the report and open it; returns the exit code."""
    from pyvision.runs.listing import find_run

    folder = find_run(options.run, options.dir)
    return open_report(folder, folder / "report.html")


def _add_list_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-n",
        "--count",
        dest="number",
        type=count,
        default=20,
        metavar="N",
        help="at most N runs (default 20)",
    )
    add("--json", action="store_true", help="print one JSON object per line")
    _add_dir(parser)


def _add_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dir", type=Path, default=Path("runs"), metavar="DIR", help="the folder of the runs (default: runs)"
    )


def _plain(info: RunInfo) -> dict[str, Any]:
    return {"run_dir": str(info.folder), "time": _time(info), "question": info.question, **info.summary}


def _line(info: RunInfo) -> str:
    """One run in two lines: when, where, model, time, cost; question and answer."""
    from pyvision.text.sanitize import printable

    summary = info.summary
    facts = [_time(info), str(info.folder), str(summary.get("model") or "")]
    if isinstance(seconds := summary.get("seconds"), int | float):
        facts.append(f"{seconds:.1f} s")
    if isinstance(cost := summary.get("cost"), int | float):
        facts.append(f"cost {cost:.4g}")
    answer = summary.get("answer")
    result = str(answer) if answer is not None else f"({summary.get('end_reason', 'not ended')})"
    first = printable(" · ".join(fact for fact in facts if fact))
    return f"{first}\n    {_cut(info.question)} → {_cut(result)}"


def _time(info: RunInfo) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(info.time))


def _cut(text: str) -> str:
    from pyvision.text.sanitize import printable

    line = " ".join(printable(text).split())
    return line if len(line) <= _TEXT_CHARS else f"{line[: _TEXT_CHARS - 1]}…"
