"""Plot the statistics of debates: condensation by round (the paper's Figure 4), and what each arm costs (Figure 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.experiments.bdog_analysis.statistics import Share, Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLES = {"updated": ("#b35c00", "o-"), "pruned": ("#b3261e", "s--"), "added": ("#1b7a3d", "^:")}
_BARS = "#35618f"


def plot(found: Statistics, folder: Path) -> tuple[Path, ...]:
    """Write the pictures of what is known into the folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = {"condensation.svg": _condensation, "accuracy.svg": _accuracy, "costs.svg": _costs}
    return tuple(path for name, draw in plots.items() if (path := _write(draw(found), folder / name)))


def _write(figure: Any, path: Path) -> Path | None:
    if figure is None:
        return None
    figure.savefig(path, metadata={"Date": None})
    return path


def _figure(columns: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns, 3.4), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _condensation(found: Statistics) -> Any:
    if not found.condensation:
        return None
    figure, axes = _figure(2)
    titles = {"intra": "affirmative against negative", "inter": "blueprint against the next"}
    for axis, (comparison, title) in zip(axes, titles.items(), strict=True):
        rounds = [c for c in found.condensation if c.comparison == comparison]
        for what, (colour, style) in STYLES.items():
            axis.plot(
                [c.round for c in rounds],
                [getattr(c, what) for c in rounds],
                style,
                color=colour,
                label=f"#{what}",
            )
        axis.set(title=f"{comparison}-round: {title}", xlabel="round", ylabel="mean a debate", ylim=(0, None))
        axis.set_xticks([c.round for c in rounds])
        axis.legend(frameon=False)
    return figure


def _accuracy(found: Statistics) -> Any:
    if not found.by_round and not found.by_end:
        return None
    figure, axes = _figure(2)
    _shares(axes[0], found.by_round, "right after each round")
    _shares(axes[1], found.by_end, "right, by the round of the end")
    return figure


def _shares(axis: Any, shares: Mapping[int, Share], title: str) -> None:
    rounds = list(shares)
    values = [share.value for share in shares.values()]
    low = [share.value - share.interval[0] for share in shares.values()]
    high = [share.interval[1] - share.value for share in shares.values()]
    axis.errorbar(rounds, values, yerr=[low, high], fmt="o", color=_BARS, capsize=4)
    for number, share in shares.items():
        axis.annotate(f"n={share.of}", (number, 0.02), ha="center", fontsize=8)
    axis.set(title=title, xlabel="round", ylabel="share right (95 %)", ylim=(0, 1.03))
    axis.set_xticks(rounds)


def _costs(found: Statistics) -> Any:
    if not found.costs:
        return None
    figure, axes = _figure(2)
    modes = [cost.mode.replace("_", " ") for cost in found.costs]
    for axis, what in zip(axes, ("tokens", "seconds"), strict=True):
        axis.barh(modes, [getattr(cost, what) for cost in found.costs], color=_BARS)
        axis.set(title=f"{what} a question", xlabel="mean")
        axis.invert_yaxis()
    return figure
