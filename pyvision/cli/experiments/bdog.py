"""`pyvision bdog`: statistics of recorded debates, and their graphs as an HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import add_commands, add_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TARGETS_HELP = (
    'the correct answers, as JSON lines {"id": NAME_OF_THE_RUN_FOLDER, "target": ANSWER} (default: the target in the '
    "config.json of each run)"
)


def add_bdog(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parts = add_commands(commands, "bdog")
    parser = add_part(
        parts, "statistics", "measure condensation, accuracy and cost over run folders", statistics
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run folder, or a folder of run folders"
    )
    parser.add_argument("--targets", type=Path, metavar="FILE", help=_TARGETS_HELP)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bdog-statistics"),
        metavar="DIR",
        help="the folder for the plots (default: bdog-statistics)",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of tables")
    parser = add_part(parts, "draw", "draw the graphs of one debate on an HTML page", draw)
    parser.add_argument("run", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write (default: RUN/graphs.html)"
    )


def statistics(options: argparse.Namespace) -> int:
    """Print the tables and write the plots; returns the exit code."""
    import json
    from dataclasses import replace

    from pyvision.experiments.bdog_analysis.statistics import plot, statistics_of, table
    from pyvision.runs.report.debates import read_record

    targets = _read_targets(options.targets) if options.targets else {}
    records = [read_record(folder) for folder in _find_folders(options.runs)]
    records = [replace(record, target=targets.get(record.name, record.target)) for record in records]
    found = statistics_of(records)
    paths = plot(found, options.out)
    if options.json:
        _print(json.dumps(found.plain() | {"plots": [str(path) for path in paths]}, ensure_ascii=False))
    else:
        _print("\n".join([table(found), "", *(f"plot: {path}" for path in paths)]))
    return 0


def draw(options: argparse.Namespace) -> int:
    """Write the page and print where it is; returns the exit code."""
    from pyvision.config.files import write_file
    from pyvision.runs.report.debates import page, read_record

    path = options.out or options.run / "graphs.html"
    write_file(path, page(read_record(options.run)).encode(errors="replace"))
    _print(str(path))
    return 0


def _find_folders(given: Sequence[Path]) -> Iterator[Path]:
    """The given run folders, and those inside the other given folders."""
    from pyvision.errors import RunFolderError
    from pyvision.trajectory import EVENTS

    for folder in given:
        inside = (
            [] if (folder / EVENTS).exists() else sorted(path.parent for path in folder.glob(f"*/{EVENTS}"))
        )
        if not inside and not (folder / EVENTS).exists():
            raise RunFolderError(f"{str(folder)!r}: contains no run; give a folder written by `pyvision run`")
        yield from inside or [folder]


def _read_targets(file: Path) -> dict[str, str]:
    import json

    from pyvision.errors import ConfigError

    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {str(line["id"]): str(line["target"]) for line in lines}
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); check --targets") from error
    except (ValueError, KeyError, TypeError) as error:
        form = 'each line must be {"id": NAME_OF_THE_RUN_FOLDER, "target": ANSWER}'
        raise ConfigError(f"{file}: invalid targets ({error}); {form}") from error


def _print(text: str) -> None:
    print(text)  # noqa: T201 - the result
