"""Draw the statistics of courses as SVG files, by matplotlib's object interface: no window, no global state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.analysis.statistics import Statistics
from pyvision.experiments.avis_study.analysis.transitions import draw_transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "vqa": "#33658a",
    "object_select": "#f26419",
    "identical_image_search": "#7048a8",
    "image_search": "#c2923e",
    "web_search": "#2f9e44",
    "llm_qa": "#a61e4d",
}
_BARS = "#33658a"
_VERDICTS = {"not informative": "#a4262c", "informative": "#7fa7c9", "answerable": "#2f9e44"}
_OTHER = "#888888"


def draw(found: Statistics, folder: Path) -> tuple[Path, ...]:
    """Write a picture of everything that there is something to tell of; their paths. Raises RunFolderError."""
    drawn = [(name, size, how) for name, size, how, is_there in _pictures(found) if is_there]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_write(folder / name, size, how, found) for name, size, how in drawn)
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r}: {error.strerror}; choose another --out") from error


_Drawing = Callable[["Axes", Statistics], None]


def _pictures(found: Statistics) -> list[tuple[str, tuple[float, float], _Drawing, bool]]:
    """Name, size in inches, how, and whether there is anything to draw."""
    return [
        ("actions_by_step.svg", (7.5, 4.2), _by_step, bool(found.by_step)),
        ("transitions.svg", (10.0, 6.4), draw_transitions, bool(found.edges)),
        ("verdicts.svg", (7.5, 1.4 + 0.45 * (1 + len(found.verdicts))), _verdicts, bool(found.verdicts)),
        ("lengths.svg", (6.0, 3.6), _lengths, bool(found.lengths)),
    ]


def _write(path: Path, size: tuple[float, float], how: _Drawing, found: Statistics) -> Path:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    how(axes, found)
    figure.savefig(path, metadata={"Date": None})
    return path


def _by_step(axes: Axes, found: Statistics) -> None:
    """Stacked: how often each action was the first, the second … of a course."""
    steps = list(found.by_step)
    below = [0] * len(steps)
    for action in found.actions():
        heights = [found.by_step[step][action] for step in steps]
        axes.bar(steps, heights, bottom=below, label=action, color=COLOURS.get(action, _OTHER), width=0.8)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set(title="actions by step", xlabel="step", ylabel="courses")
    _whole_numbers(axes)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _verdicts(axes: Axes, found: Statistics) -> None:
    rows = {"all actions": found.verdict_counts(), **dict(sorted(found.verdicts.items()))}
    names = [f"{name} (n={sum(counts.values())})" for name, counts in rows.items()]
    left = [0.0] * len(rows)
    for verdict, _ in found.verdict_counts().most_common():
        shares = [100 * counts[verdict] / sum(counts.values()) for counts in rows.values()]
        axes.barh(names, shares, left=left, label=verdict, color=_VERDICTS.get(verdict, _OTHER), height=0.7)
        left = [at + share for at, share in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="share of verdicts, %")
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _lengths(axes: Axes, found: Statistics) -> None:
    axes.bar(list(found.lengths), list(found.lengths.values()), color=_BARS, width=0.8)
    axes.set(title="length of a course", xlabel="actions", ylabel="courses")
    _whole_numbers(axes)


def _whole_numbers(axes: Any) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)
