"""Plots: as PNG images of a report for light and dark pages, or as SVG files.

By matplotlib's object interface: no window, no global state. matplotlib loads when a plot is drawn.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pyvision.bench.analysis.document import plain
from pyvision.bench.analysis.statistics import Estimate
from pyvision.config.files import explain_os_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME_CHARS = 40
_COLOURS = ("#3d84b8", "#f26419", "#2f9e44", "#9166d6", "#888888")  # visible on both
_DARK_BACK, _DARK_INK = "#16181b", "#e7e9ec"  # as in page.css

Pair: TypeAlias = tuple[bytes, bytes]
"""The PNG for a light page and for a dark one."""


@dataclass(frozen=True, slots=True)
class SvgPlot:
    """One file: `draw` fills its axes, which stand side by side. size: of the whole, in inches."""

    draw: Callable[[Sequence[Axes]], None]
    size: tuple[float, float]
    columns: int = 1


def write_plots(plots: Mapping[str, SvgPlot], folder: Path) -> tuple[Path, ...]:
    """Write each plot under its file name; returns the paths. Raises RunFolderError."""
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, plot in plots.items():
            figure, axes = _figure(plot.size, plot.columns)
            for each in axes:
                each.spines[["top", "right"]].set_visible(False)
            plot.draw(axes)
            figure.savefig(folder / name, format="svg", metadata={"Date": None})
    return tuple(folder / name for name in plots)


def plot_accuracy(rows: Sequence[tuple[str, Estimate]]) -> Pair:
    """Each value in percent as a dot with its interval, the first at the top."""
    figure, axes = _single(1.4 + 0.32 * len(rows))
    for place, (_, found) in enumerate(rows):
        axes.plot([100 * found.low, 100 * found.high], [place, place], color=_COLOURS[0])
        axes.plot([100 * found.value], [place], "o", color=_COLOURS[0])
    _name_rows(axes, [f"{name} (n={found.n})" for name, found in rows])
    axes.set_xlim(-2, 102)
    axes.set_xlabel("accuracy, %, with its 95 % interval")
    return _pair(figure, axes)


def plot_shares(series: Mapping[str, Mapping[str, float]]) -> Pair:
    """Series -> name -> share from 0 to 1, as bars side by side; every series has the same names."""
    names = list(next(iter(series.values()), {}))
    figure, axes = _single(1.4 + 0.3 * len(names) * len(series))
    thick = 0.8 / max(1, len(series))
    for number, (label, shares) in enumerate(series.items()):
        places = [place + thick * (number - (len(series) - 1) / 2) for place in range(len(names))]
        bars = axes.barh(places, [100 * shares[name] for name in names], thick, color=_COLOURS[number % 5])
        bars.set_label(label)
    _name_rows(axes, names)
    axes.set_xlabel("share of uses, %")
    axes.legend()
    return _pair(figure, axes)


def plot_accuracy_against(label: str, points: Mapping[str, tuple[float, Estimate]]) -> Pair:
    """Name -> what one sample costs (tokens or money) and the accuracy."""
    figure, axes = _single(4.5)
    for number, (name, (spent, found)) in enumerate(points.items()):
        colour = _COLOURS[number % 5]
        axes.plot([spent, spent], [100 * found.low, 100 * found.high], color=colour)
        axes.plot([spent], [100 * found.value], "o", color=colour)
        note = axes.annotate(
            _short(name), (spent, 100 * found.value), xytext=(6, 4), textcoords="offset points"
        )
        note.set_parse_math(False)
    axes.set_xlabel(label)
    axes.set_ylabel("accuracy, %")
    axes.margins(x=0.25, y=0.15)
    axes.grid(alpha=0.3)
    return _pair(figure, axes)


def _figure(size: tuple[float, float], columns: int = 1) -> tuple[Figure, Sequence[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=100, layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _single(height_inches: float) -> tuple[Figure, Axes]:
    figure, (axes,) = _figure((8, min(height_inches, 100)))
    return figure, axes


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)))
    for label in axes.set_yticklabels([_short(name) for name in names]):
        label.set_parse_math(False)  # a dollar sign in a name is a dollar sign
    axes.set_ylim(len(names) - 0.4, -0.6)  # the first at the top
    axes.grid(axis="x", alpha=0.3)


def _short(name: str) -> str:
    name = plain(name)
    return name if len(name) <= _NAME_CHARS else "…" + name[1 - _NAME_CHARS :]


def _pair(figure: Figure, axes: Axes) -> Pair:
    light = _png(figure)
    figure.set_facecolor(_DARK_BACK)
    axes.set_facecolor(_DARK_BACK)
    axes.tick_params(colors=_DARK_INK)
    legend = axes.get_legend()
    if legend is not None:
        legend.get_frame().set_facecolor(_DARK_BACK)
    texts = (axes.xaxis.label, axes.yaxis.label, *axes.texts, *(legend.get_texts() if legend else ()))
    for text in texts:
        text.set_color(_DARK_INK)
    for spine in axes.spines.values():
        spine.set_color(_DARK_INK)
    return light, _png(figure)


def _png(figure: Figure) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters missing from the font are drawn as boxes
        FigureCanvasAgg(figure).print_png(file)  # type: ignore[no-untyped-call]
    return file.getvalue()
