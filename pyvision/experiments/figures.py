"""Plots as SVG files, with matplotlib's object interface: no window, no global state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyvision.errors import RunFolderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class SvgPlot:
    """One file: `draw` fills its axes, which stand side by side. size: of the whole, in inches."""

    draw: Callable[[Sequence[Axes]], None]
    size: tuple[float, float]
    columns: int = 1


def write_plots(plots: Mapping[str, SvgPlot], folder: Path) -> tuple[Path, ...]:
    """Write each plot under its file name; returns the paths. Raises RunFolderError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, plot in plots.items():
            _draw(plot).savefig(folder / name, metadata={"Date": None})
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r}: {error.strerror}; choose another --out") from error
    return tuple(folder / name for name in plots)


def _draw(plot: SvgPlot) -> Figure:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=plot.size, layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(1, plot.columns, squeeze=False)[0]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    plot.draw(axes)
    return figure
