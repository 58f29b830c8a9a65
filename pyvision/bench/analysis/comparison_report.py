"""The comparison of runs as a document: verdicts, a table of pairs, prices, and what differs between the harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyvision.bench.analysis.compare import ComparedRun, Comparison, EqualBudget, compare, price
from pyvision.bench.analysis.document import (
    Document,
    Items,
    Paragraph,
    Part,
    Plot,
    Section,
    Table,
    format_interval,
    format_percent,
    format_probability,
    format_signed_percent,
    format_value,
)
from pyvision.bench.analysis.plots import plot_accuracy_against
from pyvision.bench.analysis.statistics import POWER
from pyvision.bench.analysis.summary import accuracy
from pyvision.bench.harness_card import NO_DIFFERENCES, Differences

_PRICES = "Accuracy and price"  # the section that has the plot


def compare_report(
    runs: Sequence[ComparedRun],
    budgets: Sequence[EqualBudget] = (),
    *,
    detect: float | None = None,
    differences: Differences = NO_DIFFERENCES,
) -> Document:
    """Every run against the first, as a document. Raises ConfigError if two share no scored sample."""
    pairs = compare(*runs, detect=detect)
    sections = (
        *_warn_of_harnesses(differences),
        _pairs(pairs),
        _prices(runs),
        *(_budget(each) for each in budgets),
        *_list_compared(differences),
    )
    return Document(f"{runs[0].name} against {', '.join(run.name for run in runs[1:])}", sections)


def illustrate_comparison(
    runs: Sequence[ComparedRun],
    budgets: Sequence[EqualBudget] = (),
    *,
    detect: float | None = None,
    differences: Differences = NO_DIFFERENCES,
) -> Document:
    """The same with accuracy plotted against cost, or tokens if a price is unknown; matplotlib loads here."""
    document = compare_report(runs, budgets, detect=detect, differences=differences)
    sections = (
        replace(each, parts=(*each.parts, *_price_plot(runs))) if each.title == _PRICES else each
        for each in document.sections
    )
    return replace(document, sections=tuple(sections))


def differences_sections(found: Differences) -> tuple[Section, ...]:
    """A warning about different harnesses first, then what is compared; empty without differences."""
    return (*_warn_of_harnesses(found), *_list_compared(found))


def _warn_of_harnesses(found: Differences) -> tuple[Section, ...]:
    warning = "The harnesses differ, so that a difference between the scores may come from them:"
    section = Section("Warning: different harnesses", (Paragraph(warning), Items(found.harness)))
    return (section,) if found.harness else ()


def _list_compared(found: Differences) -> tuple[Section, ...]:
    return (Section("What differs", (Items(found.compared),)),) if found.compared else ()


def format_verdict(pair: Comparison) -> str:
    """The verdict as a sentence."""
    found = pair.difference
    test = f"{found.n:,} samples, {_format_equation(pair.p)}"
    if pair.verdict in ("better", "worse"):
        sign = 1 if pair.verdict == "better" else -1
        low, high = sorted((sign * found.low, sign * found.high))
        interval = f"[{format_percent(low)}, {format_percent(high)}]"
        points = format_percent(sign * found.value)
        return f"{pair.second} is {pair.verdict} than {pair.first} by {points} points {interval}, {test}."
    seen = f"{format_signed_percent(found.value)} points {_format_difference(pair)}, {test}"
    target = format_percent(pair.target)
    if pair.verdict == "alike":
        return (
            f"{pair.second} and {pair.first} are alike: {seen}; a difference of {target} points is ruled out."
        )
    if pair.more is None:
        return f"{pair.second} against {pair.first} is undecided: {seen}; more samples would not help soon."
    return (
        f"{pair.second} against {pair.first} is undecided, {pair.more:,} more samples find a true difference of "
        f"{target} points with a power of {POWER:.0%}: {seen}."
    )


def _prices(runs: Sequence[ComparedRun]) -> Section:
    rows = []
    for run in runs:
        found, paid = accuracy(run.results), price(run)
        cost = "unknown" if paid.cost is None else f"{paid.cost:.5f}"
        rows.append(
            (
                run.name,
                str(len(run.results)),
                format_value(found),
                format_interval(found),
                f"{paid.tokens:,.0f}",
                cost,
            )
        )
    head = ("run", "N", "%", "95 % interval", "tokens each", "cost each")
    return Section(_PRICES, (Table(head, tuple(rows)),))


def _pairs(pairs: Sequence[Comparison]) -> Section:
    rows = tuple(
        (
            pair.second,
            str(pair.difference.n),
            format_signed_percent(pair.difference.value),
            _format_difference(pair),
            *_format_test(pair),
        )
        for pair in pairs
    )
    head = ("run", "N", "points", "95 % interval", "only it", "only 1st", "p")
    parts: list[Part] = [Items(tuple(map(format_verdict, pairs))), Table(head, rows)]
    parts.append(
        Paragraph(
            f"Each run against {pairs[0].first}, over the N samples that both have scores for. Points: difference of "
            "accuracy, paired by sample (Bonett and Price). p: exact McNemar test where each sample has one right or "
            "wrong answer, elsewhere the test of the interval. The verdict counts the number of comparisons (Holm); p "
            "does not."
        )
    )
    unpaired = [f"{pair.unpaired} with {pair.second}" for pair in pairs if pair.unpaired]
    if unpaired:
        parts.append(
            Paragraph(f"Samples left out because only one of the two has a score: {', '.join(unpaired)}.")
        )
    return Section("Finding", tuple(parts))


def _budget(found: EqualBudget) -> Section:
    pair = found.comparison
    rows = (
        (
            pair.first,
            f"{found.cheaper_tokens:,.0f}",
            format_value(pair.first_accuracy),
            format_interval(pair.first_accuracy),
        ),
        (
            pair.second,
            f"{found.dearer_tokens:,.0f}",
            format_value(pair.second_accuracy),
            format_interval(pair.second_accuracy),
        ),
    )
    more = (
        f", and {format_percent(found.share_with_one_more)} % of the samples over one more"
        if found.share_with_one_more
        else ""
    )
    summary = (
        f"The majority of {found.votes} answers to each sample{more}, so that both spend the same tokens. Difference: "
        f"{format_signed_percent(pair.difference.value)} points {_format_difference(pair)}, N={pair.difference.n}, "
        f"{pair.unpaired} left out. {format_verdict(pair)}"
    )
    return Section(
        "At equal token budget",
        (Table(("run", "tokens each", "%", "95 % interval"), rows), Paragraph(summary)),
    )


def _format_difference(pair: Comparison) -> str:
    return f"[{format_signed_percent(pair.difference.low)}, {format_signed_percent(pair.difference.high)}]"


def _format_equation(p: float) -> str:
    text = format_probability(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _format_test(pair: Comparison) -> tuple[str, str, str]:
    only = ("–", "–") if pair.only_first is None else (str(pair.only_second), str(pair.only_first))
    return (*only, format_probability(pair.p))


def _price_plot(runs: Sequence[ComparedRun]) -> tuple[Plot, ...]:
    """No plot where nothing was spent: all points would lie on one line."""
    prices = {run.name: price(run) for run in runs}
    costs = {name: each.cost for name, each in prices.items() if each.cost is not None}
    label = "cost of a sample" if len(costs) == len(runs) else "tokens of a sample"
    spent = costs if len(costs) == len(runs) else {name: each.tokens for name, each in prices.items()}
    points = {run.name: (spent[run.name], found) for run in runs if (found := accuracy(run.results))}
    if not any(spent.values()):
        return ()
    return (Plot("Accuracy and price", *plot_accuracy_against(label, points), f"accuracy against {label}"),)
