"""A comparison of runs as a document: pairs, tests, prices, and the runs at equal budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyvision.bench.analysis.compare import Comparison, Run, compare, price
from pyvision.bench.analysis.document import (
    Document,
    Paragraph,
    Part,
    Plot,
    Section,
    Table,
    format_signed_percent,
    interval,
    percent,
    probability,
    value,
)
from pyvision.bench.analysis.equal_budget import EqualBudget
from pyvision.bench.analysis.summary import accuracy


def compare_report(runs: Sequence[Run], budgets: Sequence[EqualBudget] = ()) -> Document:
    """Every run against the first. Raises ConfigError where two share no scored sample."""
    pairs = [compare(runs[0], run) for run in runs[1:]]
    sections = (_prices(runs), _pairs(pairs), *(_budget(each) for each in budgets))
    return Document(f"{runs[0].name} against {', '.join(run.name for run in runs[1:])}", sections)


def illustrate_comparison(runs: Sequence[Run], budgets: Sequence[EqualBudget] = ()) -> Document:
    """The same with accuracy plotted against cost, or tokens where a price is unknown; matplotlib loads here."""
    document = compare_report(runs, budgets)
    first, *others = document.sections
    return replace(document, sections=(replace(first, parts=(*first.parts, _price_plot(runs))), *others))


def _price_plot(runs: Sequence[Run]) -> Plot:
    from pyvision.bench.analysis.plots import plot_accuracy_against

    prices = {run.name: price(run) for run in runs}
    costs = {name: each.cost for name, each in prices.items() if each.cost is not None}
    label = "cost of a sample" if len(costs) == len(runs) else "tokens of a sample"
    spent = costs if len(costs) == len(runs) else {name: each.tokens for name, each in prices.items()}
    points = {run.name: (spent[run.name], found) for run in runs if (found := accuracy(run.results))}
    return Plot("Accuracy and price", plot_accuracy_against(label, points), f"accuracy against {label}")


def _prices(runs: Sequence[Run]) -> Section:
    rows = []
    for run in runs:
        found, paid = accuracy(run.results), price(run)
        cost = "unknown" if paid.cost is None else f"{paid.cost:.5f}"
        rows.append(
            (run.name, str(len(run.results)), value(found), interval(found), f"{paid.tokens:,.0f}", cost)
        )
    head = ("run", "N", "%", "95 % interval", "tokens each", "cost each")
    return Section("Accuracy and price", (Table(head, tuple(rows)),))


def _pairs(pairs: Sequence[Comparison]) -> Section:
    rows = tuple(
        (
            pair.second,
            str(pair.difference.n),
            format_signed_percent(pair.difference.value),
            _signed(pair),
            *_tested(pair),
        )
        for pair in pairs
    )
    head = ("run", "N", "points", "95 % interval", "only it", "only 1st", "p")
    parts: list[Part] = [Table(head, rows)]
    parts.append(
        Paragraph(
            f"Each run against {pairs[0].first}, over the N samples that both have scores of. Points: difference of "
            "accuracy, with a paired bootstrap interval. p: exact two-sided McNemar test, without correction for "
            "several comparisons; a dash where scores are fractions or samples were repeated."
        )
    )
    left_out = [f"{pair.left_out} with {pair.second}" for pair in pairs if pair.left_out]
    if left_out:
        parts.append(
            Paragraph(f"Samples left out, as only one of the two has a score: {', '.join(left_out)}.")
        )
    return Section("Paired by sample", tuple(parts))


def _budget(found: EqualBudget) -> Section:
    pair = found.comparison
    rows = (
        (
            pair.first,
            f"{found.cheaper_tokens:,.0f}",
            value(pair.first_accuracy),
            interval(pair.first_accuracy),
        ),
        (
            pair.second,
            f"{found.dearer_tokens:,.0f}",
            value(pair.second_accuracy),
            interval(pair.second_accuracy),
        ),
    )
    more = (
        f", and {percent(found.share_with_one_more)} % of the samples over one more"
        if found.share_with_one_more
        else ""
    )
    told = (
        f"The majority of {found.votes} answers to each sample{more}, so that both spend the same tokens. Difference: "
        f"{format_signed_percent(pair.difference.value)} points {_signed(pair)}, N={pair.difference.n}, "
        f"left out {pair.left_out}."
    )
    return Section(
        "At equal token budget", (Table(("run", "tokens each", "%", "95 % interval"), rows), Paragraph(told))
    )


def _signed(pair: Comparison) -> str:
    return f"[{format_signed_percent(pair.difference.low)}, {format_signed_percent(pair.difference.high)}]"


def _tested(pair: Comparison) -> tuple[str, str, str]:
    if pair.p is None:
        return "–", "–", "–"
    return str(pair.only_second), str(pair.only_first), probability(pair.p)
