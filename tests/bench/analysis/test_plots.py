"""Plots as files: what a folder holds, and what is said of one that cannot be written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.analysis.plots import SvgPlot, write_plots
from pyvision.errors import RunFolderError


def draw(axes: Sequence[Any]) -> None:
    for each in axes:
        each.set_title("a title")


def test_each_plot_is_a_file_of_its_name(tmp_path: Path) -> None:
    (path,) = write_plots({"a.svg": SvgPlot(draw, (4.0, 3.0), 2)}, tmp_path / "new")
    assert path == tmp_path / "new" / "a.svg"
    assert path.read_text(encoding="utf-8").count("<!-- a title -->") == 2


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match=r"file'.*choose another --out"):
        write_plots({}, tmp_path / "file")
