"""Draw what followed what as a graph: a box for each state, an arrow for each transition, as thick as it is likely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyvision.experiments.avis_study.analysis.statistics import END, Statistics
from pyvision.strategies.avis.actions import START

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACES = {
    START: (0.0, 1.5),
    "vqa": (1.5, 3.0),
    "object_select": (1.5, 1.5),
    "identical_image_search": (1.5, 0.0),
    "image_search": (3.0, 1.5),
    "llm_qa": (4.5, 3.0),
    "web_search": (4.5, 0.0),
    END: (6.0, 1.5),
}  # looking on the left, knowing on the right, as most courses go
_NAMES = {"identical_image_search": "identical_image\n_search"}
_INK, _BACK = "#1d1f21", "#ffffff"
_LEAST = 0.02  # likelier transitions are drawn; all are in the table


def draw_transitions(axes: Axes, found: Statistics) -> None:
    """Every transition with a share of at least 2 % of what followed its state."""
    axes.set_axis_off()
    axes.set(xlim=(-0.5, 6.4), ylim=(-0.75, 3.5), title="what followed what, as shares of what followed")
    shares = {edge: share for edge, share in found.probabilities().items() if share >= _LEAST}
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
    bend = 0.18  # to one side, so that the way back runs beside it
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
    """Above the boxes: an arrow ends at the border of a box, which is known once that is drawn."""
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
