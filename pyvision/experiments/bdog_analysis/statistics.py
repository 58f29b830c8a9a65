"""Statistics of recorded debates: condensation and accuracy by round, costs of each mode, repairs; tables and plots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pyvision.bench.analysis.plots import SvgPlot, write_plots
from pyvision.bench.analysis.statistics import wilson
from pyvision.runs.report.debates import DebateRecord, is_right

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {"updated": ("#b35c00", "o-"), "pruned": ("#b3261e", "s--"), "added": ("#1b7a3d", "^:")}
_BARS = "#35618f"


@dataclass(frozen=True, slots=True)
class Share:
    """How many answers are right, with Wilson's 95 % interval (E. B. Wilson, JASA 22, 1927)."""

    right: int
    of: int

    @property
    def value(self) -> float:
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        found = wilson(self.right, self.of)
        assert found is not None  # `of` is above 0
        return found.low, found.high

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} [{low:.1%}, {high:.1%}] of {self.of}"


@dataclass(frozen=True, slots=True)
class Condensation:
    """Means over the debates that had this round: the paper's Figure 4."""

    comparison: str
    round: int
    debates: int
    updated: float
    pruned: float
    added: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Means over the runs of one mode: the paper's Figure 5. right: None if no target is known."""

    mode: str
    runs: int
    calls: float
    tokens: float
    output_tokens: float
    seconds: float
    right: Share | None


@dataclass(frozen=True, slots=True)
class DebateStatistics:
    """by_round: the tentative answers; by_end: the final answers, by the round in which debates ended.

    repairs: how many graphs needed each repair; graphs: how many there were; whole: how many needed no repair.
    """

    condensation: tuple[Condensation, ...]
    by_round: Mapping[int, Share]
    by_end: Mapping[int, Share]
    ends: Mapping[str, int]
    costs: tuple[Cost, ...]
    repairs: Mapping[str, int]
    graphs: int
    whole: int

    def plain(self) -> dict[str, Any]:
        """As plain values, fit for JSON."""
        return asdict(self)


def statistics_of(records: Sequence[DebateRecord]) -> DebateStatistics:
    """The statistics of runs; runs in other modes than `bdog` count only for costs and repairs."""
    debates = [record for record in records if record.mode == "bdog"]
    judged = [record for record in debates if record.target is not None]
    repairs = [drawn.repairs for record in records for drawn in record.drawn]
    return DebateStatistics(
        condensation=tuple(_condensation(debates)),
        by_round=_shares((number, text, r.target or "") for r in judged for number, text in r.tentative),
        by_end=_shares((r.end_round, r.answer, r.target or "") for r in judged if r.end_round),
        ends=dict(Counter(r.why_ended for r in debates if r.why_ended)),
        costs=tuple(_cost(mode, [r for r in records if r.mode == mode]) for mode in _modes(records)),
        repairs=dict(Counter(repair for each in repairs for repair in each).most_common()),
        graphs=len(repairs),
        whole=sum(not each for each in repairs),
    )


def table(found: DebateStatistics) -> str:
    """The statistics as text for a terminal."""
    lines = ["condensation, mean per debate", "  compared   round  debates  #updated  #pruned  #added"]
    lines += [
        f"  {c.comparison:<9} {c.round:>6} {c.debates:>8} {c.updated:>9.2f} {c.pruned:>8.2f} {c.added:>7.2f}"
        for c in found.condensation
    ]
    lines += ["", "debates ended: " + (", ".join(f"{why} {n}" for why, n in found.ends.items()) or "none")]
    lines += [f"right after round {number}: {share}" for number, share in found.by_round.items()]
    lines += [f"right when ended in round {number}: {share}" for number, share in found.by_end.items()]
    lines += ["", "  mode             runs  calls    tokens   output  seconds  right"]
    lines += [
        f"  {c.mode:<16} {c.runs:>4} {c.calls:>6.1f} {c.tokens:>9.0f} {c.output_tokens:>8.0f} {c.seconds:>8.2f}"
        f"  {c.right or 'no target known'}"
        for c in found.costs
    ]
    repairs = ", ".join(f"{name} {count}" for name, count in found.repairs.items()) or "none"
    lines += ["", f"graphs: {found.graphs}, of which {found.whole} needed no repair; repairs: {repairs}"]
    return "\n".join(lines)


def plot(found: DebateStatistics, folder: Path) -> tuple[Path, ...]:
    """Write a plot of each statistic that has data into the folder; returns the paths. Raises RunFolderError."""
    plots = {
        "condensation.svg": (_plot_condensation, found.condensation),
        "accuracy.svg": (_plot_accuracy, found.by_round or found.by_end),
        "costs.svg": (_plot_costs, found.costs),
    }
    return write_plots(
        {name: SvgPlot(partial(draw, found), (8.4, 3.4), 2) for name, (draw, data) in plots.items() if data},
        folder,
    )


def _condensation(records: Iterable[DebateRecord]) -> Iterable[Condensation]:
    groups = defaultdict(list)
    for record in records:
        for change in record.changes:
            groups[change.comparison, change.round].append(change)
    for (comparison, number), changes in sorted(groups.items()):
        means = (
            fmean(getattr(change, what) for change in changes) for what in ("updated", "pruned", "added")
        )
        yield Condensation(comparison, number, len(changes), *means)


def _shares(answers: Iterable[tuple[int, str | None, str]]) -> dict[int, Share]:
    right: Counter[int] = Counter()
    of: Counter[int] = Counter()
    for number, answer, target in answers:
        of[number] += 1
        right[number] += is_right(answer, target)
    return {number: Share(right[number], of[number]) for number in sorted(of)}


def _modes(records: Iterable[DebateRecord]) -> list[str]:
    return sorted({record.mode for record in records})


def _cost(mode: str, records: Sequence[DebateRecord]) -> Cost:
    judged = [(record.answer, record.target) for record in records if record.target is not None]
    share = Share(sum(is_right(answer, target) for answer, target in judged), len(judged)) if judged else None
    return Cost(
        mode,
        len(records),
        calls=fmean(record.calls for record in records),
        tokens=fmean(record.tokens for record in records),
        output_tokens=fmean(record.output_tokens for record in records),
        seconds=fmean(record.seconds for record in records),
        right=share,
    )


def _plot_condensation(found: DebateStatistics, axes: Sequence[Axes]) -> None:
    titles = {"intra": "affirmative against negative", "inter": "blueprint against the next"}
    for axis, (comparison, title) in zip(axes, titles.items(), strict=True):
        rounds = [c for c in found.condensation if c.comparison == comparison]
        for what, (colour, style) in _STYLES.items():
            axis.plot(
                [c.round for c in rounds],
                [getattr(c, what) for c in rounds],
                style,
                color=colour,
                label=f"#{what}",
            )
        axis.set(
            title=f"{comparison}-round: {title}", xlabel="round", ylabel="mean per debate", ylim=(0, None)
        )
        axis.set_xticks([c.round for c in rounds])
        axis.legend(frameon=False)


def _plot_accuracy(found: DebateStatistics, axes: Sequence[Axes]) -> None:
    _plot_shares(axes[0], found.by_round, "right after each round")
    _plot_shares(axes[1], found.by_end, "right, by last round")


def _plot_shares(axis: Axes, shares: Mapping[int, Share], title: str) -> None:
    rounds = list(shares)
    values = [share.value for share in shares.values()]
    low = [share.value - share.interval[0] for share in shares.values()]
    high = [share.interval[1] - share.value for share in shares.values()]
    axis.errorbar(rounds, values, yerr=[low, high], fmt="o", color=_BARS, capsize=4)
    for number, share in shares.items():
        axis.annotate(f"n={share.of}", (number, 0.02), ha="center", fontsize=8)
    axis.set(title=title, xlabel="round", ylabel="share right (95 %)", ylim=(0, 1.03))
    axis.set_xticks(rounds)


def _plot_costs(found: DebateStatistics, axes: Sequence[Axes]) -> None:
    modes = [cost.mode.replace("_", " ") for cost in found.costs]
    for axis, what in zip(axes, ("tokens", "seconds"), strict=True):
        axis.barh(modes, [getattr(cost, what) for cost in found.costs], color=_BARS)
        axis.set(title=f"{what} per question", xlabel="mean")
        axis.invert_yaxis()
