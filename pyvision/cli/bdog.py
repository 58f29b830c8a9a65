"""`pyvision bdog`: statistics over debates that were kept in run folders, and their graphs as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TARGETS_HELP = (
    'the right answers, as JSON lines {"id": NAME OF THE RUN FOLDER, "target": ANSWER} (default: the target in the '
    "config.json of a run)"
)


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parser = commands.add_parser("bdog")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    counting = parts.add_parser("statistics", help="condensation, accuracy and cost over run folders")
    counting.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run folder, or a folder of them"
    )
    counting.add_argument("--targets", type=Path, metavar="FILE", help=_TARGETS_HELP)
    counting.add_argument(
        "--out",
        type=Path,
        default=Path("bdog-statistics"),
        metavar="DIR",
        help="where the plots go (default: bdog-statistics)",
    )
    counting.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    counting.set_defaults(call=statistics)
    drawing = parts.add_parser("draw", help="the graphs of one debate as an HTML page")
    drawing.add_argument("run", type=Path, metavar="RUN", help="the folder of the run")
    drawing.add_argument("--out", type=Path, metavar="FILE", help="the page (default: RUN/graphs.html)")
    drawing.set_defaults(call=draw)


def statistics(options: argparse.Namespace) -> int:
    """Print the tables and write the plots; returns the exit code."""
    import json
    from dataclasses import replace

    from pyvision.experiments.bdog_analysis.plots import plot
    from pyvision.experiments.bdog_analysis.statistics import statistics_of, table
    from pyvision.runs.report.debates import read_record

    targets = _targets(options.targets) if options.targets else {}
    records = [read_record(folder) for folder in _folders(options.runs)]
    records = [replace(record, target=targets.get(record.name, record.target)) for record in records]
    found = statistics_of(records)
    paths = plot(found, options.out)
    if options.json:
        _print(json.dumps(found.plain() | {"plots": [str(path) for path in paths]}, ensure_ascii=False))
    else:
        _print("\n".join([table(found), "", *(f"plotted: {path}" for path in paths)]))
    return 0


def draw(options: argparse.Namespace) -> int:
    """Write the page and print where it is; returns the exit code."""
    from pyvision.errors import RunFolderError
    from pyvision.runs.report.debates import page, read_record

    path = options.out or options.run / "graphs.html"
    text = page(read_record(options.run))
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise RunFolderError(f"{str(path)!r}: {error.strerror}; choose another --out") from error
    _print(str(path))
    return 0


def _folders(given: Sequence[Path]) -> Iterator[Path]:
    """Every run folder that was named, and those inside of a folder that is none itself."""
    from pyvision.errors import RunFolderError
    from pyvision.trajectory import EVENTS

    for folder in given:
        inside = (
            [] if (folder / EVENTS).exists() else sorted(path.parent for path in folder.glob(f"*/{EVENTS}"))
        )
        if not inside and not (folder / EVENTS).exists():
            raise RunFolderError(
                f"{str(folder)!r}: holds no run; name a folder that `pyvision run` has written"
            )
        yield from inside or [folder]


def _targets(file: Path) -> dict[str, str]:
    import json

    from pyvision.errors import ConfigError

    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {str(line["id"]): str(line["target"]) for line in lines}
    except OSError as error:
        raise ConfigError(f"{file}: the targets cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        way = 'every line is {"id": NAME OF THE RUN FOLDER, "target": ANSWER}'
        raise ConfigError(f"{file}: no targets ({error}); {way}") from error


def _print(text: str) -> None:
    print(text)  # noqa: T201 - what the command is for
