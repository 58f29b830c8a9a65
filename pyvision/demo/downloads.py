"""What a visitor takes home of a question: its report, its notebook, and its whole record."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pyvision.runs.export.formats import export
from pyvision.runs.report import read_run, report
from pyvision.runs.report.files import write_file


def downloads(run_dir: Path) -> tuple[Path, ...]:
    """A report, a notebook with its pictures, and the record itself; written beside the run folder."""
    run = read_run(run_dir)
    beside = run_dir.with_name(f"{run_dir.name}-files")
    write_file(beside / "report.html", report(run).encode())
    export(run, "ipynb", beside / "notebook")
    return (
        beside / "report.html",
        _archive(beside / "notebook", beside / "notebook.zip"),
        _archive(run_dir, beside / "trajectory.zip"),
    )


def _archive(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(path.stem) / file.relative_to(folder))
    return path
