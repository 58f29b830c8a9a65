"""Plot the statistics of trajectories as SVG files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.bench.analysis.plots import SvgPlot, write_plots
from pyvision.experiments.avis_study.statistics import END, StudyStatistics
from pyvision.strategies.avis.actions import START

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    _Drawing: TypeAlias = Callable[[Axes, StudyStatistics], None]


COLOURS = {
    "vqa": "#33658a",
    "object_select": "#f26419",
    "identical_image_search": "#7048a8",
    "image_search": "#c2923e",
    "web_search": "#2f9e44",
    "llm_qa": "#a61e4d",
}
_BARS = "#33658a"
_VERDICT_COLOURS = {"not informative": "#a4262c", "informative": "#7fa7c9", "answerable": "#2f9e44"}
_OTHER = "#888888"
_INK, _BACK = "#1d1f21", "#ffffff"
_PLACES = {
    START: (0.0, 1.5),
    "vqa": (1.5, 3.0),
    "object_select": (1.5, 1.5),
    "identical_image_search": (1.5, 0.0),
    "image_search": (3.0, 1.5),
    "llm_qa": (4.5, 3.0),
    "web_search": (4.5, 0.0),
    END: (6.0, 1.5),
}  # looking on the left, knowing on the right, as most trajectories go
_NAMES = {"identical_image_search": "identical_image\n_search"}
_MIN_SHARE = 0.02  # rarer transitions are only in the table


def draw(found: StudyStatistics, folder: Path) -> tuple[Path, ...]:
    """Write a plot of each statistic that has data; returns the paths. Raises RunFolderError."""
    plots: dict[str, tuple[tuple[float, float], _Drawing, bool]] = {
        "actions_by_step.svg": ((7.5, 4.2), _by_step, bool(found.by_step)),
        "transitions.svg": ((10.0, 6.4), _transitions, bool(found.edges)),
        "verdicts.svg": ((7.5, 1.4 + 0.45 * (1 + len(found.verdicts))), _verdicts, bool(found.verdicts)),
        "lengths.svg": ((6.0, 3.6), _lengths, bool(found.lengths)),
    }
    return write_plots(
        {name: _plot(draw, found, size) for name, (size, draw, has_data) in plots.items() if has_data}, folder
    )


def _plot(draw: _Drawing, found: StudyStatistics, size: tuple[float, float]) -> SvgPlot:
    return SvgPlot(lambda axes: draw(axes[0], found), size)


def _by_step(axes: Axes, found: StudyStatistics) -> None:
    """Stacked: how often each action was the first, the second … of a trajectory."""
    steps = list(found.by_step)
    below = [0] * len(steps)
    for action in found.actions():
        heights = [found.by_step[step][action] for step in steps]
        axes.bar(steps, heights, bottom=below, label=action, color=COLOURS.get(action, _OTHER), width=0.8)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set(title="actions by step", xlabel="step", ylabel="trajectories")
    _use_integer_ticks(axes)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _verdicts(axes: Axes, found: StudyStatistics) -> None:
    rows = {"all actions": found.verdict_counts(), **dict(sorted(found.verdicts.items()))}
    names = [f"{name} (n={sum(counts.values())})" for name, counts in rows.items()]
    left = [0.0] * len(rows)
    for verdict, _ in found.verdict_counts().most_common():
        shares = [100 * counts[verdict] / sum(counts.values()) for counts in rows.values()]
        axes.barh(
            names, shares, left=left, label=verdict, color=_VERDICT_COLOURS.get(verdict, _OTHER), height=0.7
        )
        left = [at + share for at, share in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="share of verdicts, %")
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _lengths(axes: Axes, found: StudyStatistics) -> None:
    axes.bar(list(found.lengths), list(found.lengths.values()), color=_BARS, width=0.8)
    axes.set(title="trajectory length", xlabel="actions", ylabel="trajectories")
    _use_integer_ticks(axes)


def _use_integer_ticks(axes: Any) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)


def _transitions(axes: Axes, found: StudyStatistics) -> None:
    """A box for each state and an arrow for each transition, as wide as it is likely; those below 2 % are omitted."""
    axes.set_axis_off()
    axes.set(xlim=(-0.5, 6.4), ylim=(-0.75, 3.5), title="transition probabilities")
    shares = {edge: share for edge, share in found.probabilities().items() if share >= _MIN_SHARE}
    boxes = {state: _box(axes, state) for state in _PLACES if any(state in edge for edge in shares)}
    for (state, after), share in shares.items():
        if state == after and state in boxes:
            _loop(axes, state, share)
        elif state in boxes and after in boxes:
            _arrow(axes, (state, after), share, (boxes[state], boxes[after]))


def _box(axes: Axes, state: str) -> Any:
    frame = {"boxstyle": "round,pad=0.5", "facecolor": _BACK, "edgecolor": _INK}
    name = _NAMES.get(state, state)
    return axes.text(*_PLACES[state], name, ha="center", va="center", fontsize=9, bbox=frame).get_bbox_patch()


def _arrow(axes: Axes, edge: tuple[str, str], share: float, boxes: tuple[Any, Any]) -> None:
    from matplotlib.patches import FancyArrowPatch

    (x0, y0), (x1, y1) = _PLACES[edge[0]], _PLACES[edge[1]]
    bend = 0.18  # to one side, so that the opposite arrow runs beside it
    style = _style(share) | {"connectionstyle": f"arc3,rad={bend}", "patchA": boxes[0], "patchB": boxes[1]}
    axes.add_patch(FancyArrowPatch((x0, y0), (x1, y1), shrinkA=1, shrinkB=3, **style))
    _label(axes, ((x0 + x1) / 2 + bend / 2 * (y1 - y0), (y0 + y1) / 2 - bend / 2 * (x1 - x0)), share)


def _loop(axes: Axes, state: str, share: float) -> None:
    from matplotlib.patches import FancyArrowPatch

    x, y = _PLACES[state]
    side = 1 if y >= 1.5 else -1  # away from the middle
    ends = (x - 0.25, y + 0.12 * side), (x + 0.25, y + 0.12 * side)
    style = _style(share) | {"connectionstyle": f"arc3,rad={-1.3 * side}"}
    axes.add_patch(FancyArrowPatch(*ends, shrinkA=4, shrinkB=4, **style))
    _label(axes, (x, y + 0.46 * side), share)


def _style(share: float) -> dict[str, Any]:
    """Drawn above the boxes: an arrow ends at the border of a box, which is known only after drawing it."""
    return {
        "arrowstyle": "-|>",
        "mutation_scale": 10 + 6 * share,
        "linewidth": 0.6 + 4 * share,
        "color": _INK,
        "alpha": 0.35 + 0.5 * share,
        "zorder": 4,
    }


def _label(axes: Axes, place: tuple[float, float], share: float) -> None:
    frame = {"boxstyle": "round,pad=0.1", "facecolor": _BACK, "edgecolor": "none", "alpha": 0.85}
    axes.text(*place, f"{share:.2f}", ha="center", va="center", fontsize=8, bbox=frame, zorder=5)
