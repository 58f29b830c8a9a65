"""The report of one experiment as a document: the finding, tables, plots, and the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyvision.bench.analysis.document import (
    Command,
    Document,
    Items,
    Paragraph,
    Plot,
    Section,
    Table,
    format_interval,
    format_percent,
    format_value,
)
from pyvision.bench.analysis.plots import plot_accuracy, plot_shares
from pyvision.bench.analysis.statistics import Estimate
from pyvision.bench.analysis.summary import JudgeCounts, Summary, summarise
from pyvision.bench.analysis.taxonomy import SOURCE, PaperCounts, ToolCounts, paper_counts
from pyvision.bench.analysis.tool_rules import TITLES
from pyvision.bench.datasets.registry import Reference
from pyvision.bench.experiment import reproduce_requirements
from pyvision.bench.samples import Result
from pyvision.types import Usage

_MAX_REASONS = 10
_MAX_ROWS = 100  # of the plot of categories


@dataclass(frozen=True, slots=True)
class Subject:
    """What a report is about, besides the records.

    configuration: of the experiment, as stored. tools: None if no code of cells was stored. aggregated: sentences about
    a metric that is not a mean over rows. judges: the tokens that each has used.
    """

    title: str
    dataset: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    references: tuple[Reference, ...] = ()
    tools: ToolCounts | None = None
    aggregated: tuple[str, ...] = ()
    judges: Mapping[str, Usage] = field(default_factory=dict)


def report(results: Sequence[Result], subject: Subject) -> Document:
    """The report as text and tables; `illustrate_report` adds the plots."""
    found = summarise(results)
    sections = [
        _finding(found, subject),
        _accuracy(found, subject.aggregated),
        *_references(found, subject),
        _endings(found),
        _spending(found, subject.judges),
        _working(found),
    ]
    if subject.tools and subject.tools.cells:
        sections.append(_tools(subject.tools, paper_counts(subject.dataset)))
    return Document(subject.title, (*sections, *_origin(subject)))


def illustrate_report(results: Sequence[Result], subject: Subject) -> Document:
    """The report with its plots, each at the end of its section; matplotlib loads here."""
    plots = {plot.name: plot for plot in (*_accuracy_plots(results), *_tool_plots(subject))}
    document = report(results, subject)
    return replace(
        document,
        sections=tuple(_add_plot(section, plots.get(section.title)) for section in document.sections),
    )


def _finding(found: Summary, subject: Subject) -> Section:
    """The result in a sentence, and who answered."""
    strategy, model = subject.configuration.get("strategy"), subject.configuration.get("model")
    name = (model.get("model") or model.get("wire")) if isinstance(model, Mapping) else None
    if isinstance(strategy, Mapping):
        strategy = strategy.get("name")
    who = " with ".join(str(each) for each in (strategy, name) if each)
    unscored = f" {found.unscored:,} are unscored, and say nothing about the model." if found.unscored else ""
    result = (
        f"{format_value(found.accuracy)} % are right {format_interval(found.accuracy)}, "
        f"{found.accuracy.n:,} samples."
        if found.accuracy
        else "Nothing is scored."
    )
    return Section("Finding", (Paragraph(f"{who}: {result}{unscored}" if who else f"{result}{unscored}"),))


def _accuracy(found: Summary, aggregated: tuple[str, ...]) -> Section:
    rows = [
        (row.name, str(row.n), str(row.unscored), format_value(row.accuracy), format_interval(row.accuracy))
        for row in found.categories
    ]
    accuracy = format_value(found.accuracy), format_interval(found.accuracy)
    rows.append(("all", str(found.n), str(found.unscored), *accuracy))
    table = Table(("category", "N", "unscored", "accuracy %", "95 % interval"), tuple(rows))
    remarks = (*aggregated, *_remarks(found), *(_describe_judge(judge, found.n) for judge in found.judges))
    return Section("Accuracy", (table, *map(Paragraph, remarks)))


def _remarks(found: Summary) -> Iterator[str]:
    yield (
        "Accuracy is the mean score of the scored answers. A refused, truncated or missing answer counts as wrong. "
        "Answers that failed for a reason other than the model are unscored."
    )
    if found.unscored:
        yield (
            f"{found.unscored} of {found.n} are unscored: over all {found.n} the accuracy lies between "
            f"{format_percent(found.low)} (if they were all wrong) and {format_percent(found.high)} (if all right)."
        )
    if found.remarked:
        yield (
            f"{found.remarked} of {found.n} answers carry a remark, for example that a search was cut short and the "
            "answer is the best one so far; they count like all others, and their records give the reason."
        )
    if found.repeats > 1:
        yield (
            f"{found.samples} samples, answered up to {found.repeats} times each. A sample counts once, by its "
            "mean; the interval comes from resampling whole samples (bootstrap)."
        )


def _describe_judge(counts: JudgeCounts, n: int) -> str:
    """n: answers in all."""
    return (
        f"{counts.judge} judged {counts.asked} of {n} answers, in which the rules found nothing: "
        f"{counts.right} right, {counts.wrong} wrong, {counts.unreadable} without a readable verdict (unscored). "
        f"Its prompts: {', '.join(counts.prompts)}."
    )


def _references(found: Summary, subject: Subject) -> Iterator[Section]:
    if not subject.references:
        return
    ours = f"{format_value(found.accuracy)} {format_interval(found.accuracy)}: this run, N={found.n}"
    rows = [f"{each.value:g}: {each.model} ({each.source})" for each in subject.references]
    remark = "Published results may use other prompts, other images and other scoring rules."
    yield Section("Published results", (Items((ours, *rows)), Paragraph(remark)))


def _endings(found: Summary) -> Section:
    rows = [
        (reason, str(number), format_percent(number / found.n))
        for reason, number in found.end_reasons.items()
    ]
    parts: list[Table | Paragraph | Items] = [Table(("end reason", "records", "%"), tuple(rows))]
    counts = {reason: found.end_reasons.get(reason, 0) for reason in ("truncated", "refused")}
    parts.append(
        Paragraph(
            f"Truncated: {counts['truncated']}. Refused: {counts['refused']}. Both are scored as wrong."
        )
    )
    if found.unscored:
        reasons = [f"{number}: {reason}" for reason, number in found.unscored_reasons.items()]
        more = len(reasons) - _MAX_REASONS
        parts.append(Paragraph("Reasons for unscored records:"))
        parts.append(Items((*reasons[:_MAX_REASONS], *((f"{more} more reasons",) if more > 0 else ()))))
    return Section("How the samples ended", tuple(parts))


def _spending(found: Summary, judges: Mapping[str, Usage]) -> Section:
    spending, n = found.spending, max(1, found.n)
    rows = [
        ("input tokens", f"{spending.input_tokens:,}", f"{spending.input_tokens / n:,.0f}"),
        ("  from the cache, %", format_percent(spending.cached_share), ""),
        ("output tokens", f"{spending.output_tokens:,}", f"{spending.output_tokens / n:,.0f}"),
        ("cost, in the price table's currency", *_cost(found)),
        ("seconds, median", "", f"{spending.seconds_median:.1f}"),
        ("seconds, 95th percentile", "", f"{spending.seconds_p95:.1f}"),
    ]
    for judge, used in judges.items():
        rows.append(
            (f"judge {judge}: input tokens", f"{used.input_tokens:,}", f"{used.input_tokens / n:,.0f}")
        )
        rows.append(
            (f"judge {judge}: output tokens", f"{used.output_tokens:,}", f"{used.output_tokens / n:,.0f}")
        )
    return Section("Cost", (Table(("", "total", "per record"), tuple(rows)), *_missing_prices(found)))


def _cost(found: Summary) -> tuple[str, str]:
    priced = found.n - found.spending.unpriced
    if not priced:
        return "unknown", "unknown"
    return f"{found.spending.cost:.4f}", f"{found.spending.cost / priced:.6f}"


def _missing_prices(found: Summary) -> Iterator[Paragraph]:
    if found.spending.unpriced:
        yield Paragraph(f"The price of {found.spending.unpriced} of {found.n} records is unknown.")


def _working(found: Summary) -> Section:
    working = found.working
    rows = (
        ("turns", f"{working.turns:.2f}"),
        ("cells", f"{working.cells:.2f}"),
        ("figures displayed by cells", f"{working.figures:.2f}"),
        ("megapixels sent, all requests together", f"{working.sent_pixels / 1e6:.3f}"),
        ("records without a cell", f"{working.without_cell} of {found.n}"),
    )
    return Section("How the model worked", (Table(("", "mean per record"), rows),))


def _tools(counts: ToolCounts, paper: PaperCounts | None) -> Section:
    classes = counts.classes
    head = ("class of tools", "uses", "%", *(("paper %",) if paper else ()))
    rows = tuple(
        (
            title,
            str(classes[name]),
            format_percent(counts.share(name)),
            *((format_percent(paper.share(name)),) if paper else ()),
        )
        for name, title in TITLES.items()
    )
    kinds = tuple((kind, str(number)) for kind, number in counts.kinds.items() if number)
    remark = (
        f"Read from the code of {counts.cells} cells, {counts.broken} of them not valid Python; "
        "a cell may use several tools."
    )
    source = f" The paper's shares: {SOURCE}, which clusters whole code blocks." if paper else ""
    return Section("Tools", (Table(head, rows), Paragraph(remark + source), Table(("kind", "uses"), kinds)))


def _origin(subject: Subject) -> Iterator[Section]:
    if subject.configuration:
        leaves = tuple(f"{key}: {each}" for key, each in _flat(subject.configuration))
        yield Section("Configuration", (Items(leaves),), is_folded=True)
    if subject.command:
        needs = " ".join(reproduce_requirements(subject.configuration))
        remark = (Paragraph(needs),) if needs else ()
        yield Section("Reproduce", (Command(subject.command), *remark))


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf with its dotted name."""
    for key, each in values.items():
        if isinstance(each, Mapping) and each:
            yield from _flat(each, f"{above}{key}.")
        else:
            yield f"{above}{key}", each if isinstance(each, str) else json.dumps(each, default=str)


def _add_plot(section: Section, plot: Plot | None) -> Section:
    return replace(section, parts=(*section.parts, plot)) if plot else section


def _accuracy_plots(results: Sequence[Result]) -> Iterator[Plot]:
    found = summarise(results)
    rows: list[tuple[str, Estimate]] = [("all", found.accuracy)] if found.accuracy else []
    rows += [(row.name, row.accuracy) for row in found.categories if row.accuracy]
    if rows:
        caption = "Accuracy with its 95 % interval, by category"
        yield Plot("Accuracy", *plot_accuracy(rows[:_MAX_ROWS]), caption)


def _tool_plots(subject: Subject) -> Iterator[Plot]:
    if not subject.tools or not subject.tools.cells:
        return
    series = {"this run": {title: subject.tools.share(name) for name, title in TITLES.items()}}
    paper = paper_counts(subject.dataset)
    if paper:
        series["the paper"] = {title: paper.share(name) for name, title in TITLES.items()}
    yield Plot("Tools", *plot_shares(series), "Classes of tools, as shares of all uses")
