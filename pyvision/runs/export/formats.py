"""The formats that a run can be exported to: a row each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from pyvision.errors import ConfigError
from pyvision.runs.export.parts import Export
from pyvision.runs.report.files import write_file
from pyvision.runs.report.run import Run

FORMATS: Mapping[str, str] = {  # MODULE.FUNCTION of this package, imported when it is chosen
    "ipynb": "notebook.export_notebook",
    "messages": "messages.export_messages",
    "pyvision": "upstream.export_upstream",
    "sharegpt": "sharegpt.export_sharegpt",
    "swift": "swift.export_swift",
    "verl": "verl.export_verl",
    "atif": "atif.export_atif",
}


def export(run: Run, format_name: str, folder: Path) -> Path:
    """Write the run in a format into a folder; the path of the file to open.

    Raises ConfigError for a format that is not known, RunFolderError where nothing can be written.
    """
    if format_name not in FORMATS:
        raise ConfigError(f"unknown format {format_name!r}; known formats are {', '.join(FORMATS)}")
    module, _, function = FORMATS[format_name].partition(".")
    made: Export = getattr(import_module(f"pyvision.runs.export.{module}"), function)(run, folder)
    for name, data in reversed(made.files):  # the pictures first: the file to open never lacks them
        write_file(folder / name, data)
    return folder / made.files[0][0]
