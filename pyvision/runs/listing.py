"""Find recorded runs in a folder: the newest one, one by its name, all that mention a text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError
from pyvision.trajectory import EVENTS, SUMMARY

RUNS = Path("runs")  # where `pyvision run` writes, below the working folder
_START_BYTES = 1_000_000  # of the record: its header, and the event with the question


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One recorded run. time: when its record was last written, in seconds since 1970. summary: empty until it ends."""

    folder: Path
    time: float
    question: str
    summary: dict[str, Any]


def list_runs(root: Path) -> list[RunInfo]:
    """The runs in a folder and in the folders of chats below it, the newest first; what is no run is skipped."""
    found = [
        _read(path.parent) for pattern in (f"*/{EVENTS}", f"*/*/{EVENTS}") for path in root.glob(pattern)
    ]
    return sorted((info for info in found if info), key=lambda info: (info.time, info.folder), reverse=True)


def find_run(name: str | None, root: Path = RUNS) -> Path:
    """The folder of the run with this path, name or unique part of it; the newest one for None. Raises ConfigError.

    A path that matches no run but exists is returned too: reading it names what is wrong with it.
    """
    if name is not None and (Path(name) / EVENTS).is_file():
        return Path(name)
    runs = list_runs(root)
    if name is None:
        if not runs:
            raise ConfigError(f"no run is recorded in {str(root)!r}; ask a question first, or name a folder")
        return runs[0].folder
    if (root / name / EVENTS).is_file():
        return root / name
    matching = [info.folder for info in runs if name.strip("/") in str(info.folder.relative_to(root))]
    if not matching and Path(name).exists():
        return Path(name)
    if len(matching) != 1:
        many = f"{len(matching)} runs match" if matching else "no run matches"
        raise ConfigError(f"{many} {name!r} in {str(root)!r}; pyvision logs lists them")
    return matching[0]


def search_runs(root: Path, text: str) -> Iterator[RunInfo]:
    """The runs whose question, replies, code, output or answer contain the text, in any case."""
    needle = json.dumps(text, ensure_ascii=False)[1:-1].casefold()
    for info in list_runs(root):
        try:
            with (info.folder / EVENTS).open(encoding="utf-8", errors="replace") as lines:
                if any(needle in line.casefold() for line in lines):
                    yield info
        except OSError:
            continue  # removed meanwhile


def _read(folder: Path) -> RunInfo | None:
    try:
        time = (folder / EVENTS).stat().st_mtime
        with (folder / EVENTS).open("rb") as file:
            lines = file.read(_START_BYTES).splitlines()
        began = json.loads(lines[1]) if len(lines) > 1 else {}
        question = str(began["question"]["text"]) if began else ""
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return RunInfo(folder, time, question, _read_summary(folder / SUMMARY))


def _read_summary(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return summary if isinstance(summary, dict) else {}
