"""The formats that a run can be exported to: a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyvision.errors import ConfigError
from pyvision.report.exports.atif import export_atif
from pyvision.report.exports.messages import export_messages
from pyvision.report.exports.notebook import export_notebook
from pyvision.report.exports.parts import Export
from pyvision.report.exports.sharegpt import export_sharegpt
from pyvision.report.exports.swift import export_swift
from pyvision.report.exports.upstream import export_upstream
from pyvision.report.exports.verl import export_verl
from pyvision.report.files import write_file
from pyvision.report.run import Run

FORMATS: Mapping[str, Callable[[Run, Path], Export]] = {
    "ipynb": export_notebook,
    "messages": export_messages,
    "pyvision": export_upstream,
    "sharegpt": export_sharegpt,
    "swift": export_swift,
    "verl": export_verl,
    "atif": export_atif,
}


def export(run: Run, format_name: str, folder: Path) -> Path:
    """Write the run in a format into a folder; the path of the file to open.

    Raises ConfigError for a format that is not known, RunFolderError where nothing can be written.
    """
    if format_name not in FORMATS:
        raise ConfigError(f"unknown format {format_name!r}; known formats are {', '.join(FORMATS)}")
    made = FORMATS[format_name](run, folder)
    for name, data in reversed(made.files):  # the pictures first: the file to open never lacks them
        write_file(folder / name, data)
    return folder / made.files[0][0]
