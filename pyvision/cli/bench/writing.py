"""Write pages and plots of reports into files, whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.bench.analysis.document import Document


def write_page(document: Document, file: Path) -> None:
    """One HTML file. Raises ConfigError where it cannot be written."""
    from pyvision.bench.analysis.document import to_page

    _write(file, to_page(document).encode())


def write_plots(document: Document, folder: Path) -> None:
    """A PNG for each plot. Raises ConfigError where they cannot be written."""
    for plot in document.plots:
        _write(folder / f"{plot.name.lower().replace(' ', '-')}.png", plot.png)


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.part")
        part.write_bytes(data)
        part.replace(file)
    except OSError as error:
        raise ConfigError(
            f"{str(file)!r}: cannot be written ({error.strerror}); name another place"
        ) from error
    print(f"wrote {file}", file=sys.stderr)  # noqa: T201 - where it went
