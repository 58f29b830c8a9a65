"""The reports of an experiment's single samples: written into their run folders, and linked from a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from pyvision.bench.analysis.document import Paragraph, Section, Table
from pyvision.bench.results import Result
from pyvision.bench.store import Store
from pyvision.errors import PyVisionError
from pyvision.trajectory import EVENTS

REPORT = "report.html"

Watch = Callable[[int, int], None]


def write_sample_pages(
    folder: Path,
    *,
    watch: Watch = lambda done, total: None,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Write the report of every record that has a trajectory, where there is none yet or an older one.

    Returns how many were written; a trajectory that cannot be read is told, and left out. Raises RunFolderError when
    a report cannot be written.
    """
    from pyvision.runs.report import read_run, report
    from pyvision.runs.report.run import write_file

    with Store(folder) as store:
        runs = [store.run_folder(record.sample_id, record.repeat) for record in store.records()]
    stale = [run for run in runs if run is not None and not _is_current(run)]
    written = 0
    for done, run in enumerate(stale, 1):
        try:
            page = report(read_run(run)).encode()
        except PyVisionError as error:
            tell(f"no report for {run.name}: {error}")
        else:
            write_file(run / REPORT, page)
            written += 1
        watch(done, len(stale))
    return written


def samples_section(folder: Path, results: Sequence[Result], page: Path) -> Section:
    """Every record, with a link to its report where there is one. page: the file that the links start from."""
    with Store(folder) as store:
        links = tuple(
            _link(store.run_folder(each.record.sample_id, each.record.repeat), page) for each in results
        )
    table = Table(("sample", "repeat", "score", "end", "cells"), tuple(map(_row, results)), links)
    if any(links):
        return Section("Samples", (table,))
    remark = "Reports of the single samples are written, and linked here, by `bench report DIR --samples`."
    return Section("Samples", (Paragraph(remark), table))


def _is_current(run: Path) -> bool:
    page = run / REPORT
    return page.is_file() and page.stat().st_mtime >= (run / EVENTS).stat().st_mtime


def _link(run: Path | None, page: Path) -> str | None:
    """Relative, so that page and folder can move together; quoted, so that it cannot be of any scheme."""
    if run is None or not (run / REPORT).is_file():
        return None
    return quote(Path(os.path.relpath((run / REPORT).resolve(), page.resolve().parent)).as_posix())


def _row(result: Result) -> tuple[str, ...]:
    record, value = result.record, result.value
    score = "–" if value is None else f"{value:g}"
    return record.sample_id, str(record.repeat), score, record.end_reason, str(record.cells)
