"""The report of one experiment as a document, and the reports of its single samples, which it links to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
from pyvision.bench.experiment import reproduce_requirements
from pyvision.bench.samples import Result
from pyvision.bench.store import Store
from pyvision.errors import PyVisionError
from pyvision.trajectory import EVENTS
from pyvision.types import Usage

REPORT = "report.html"
_MAX_REASONS = 10
_MAX_ROWS = 100  # of the plot of categories
Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reference:
    """A published result for the same benchmark, in the unit of its source."""

    model: str
    value: float
    source: str


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


def write_sample_pages(
    folder: Path,
    *,
    watch: Watch = lambda done, total: None,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Write the report of every record with a trajectory, unless it has an up-to-date one.

    Returns how many were written; `tell` gets a line for each trajectory that cannot be read. Raises RunFolderError if
    a report cannot be written.
    """
    from pyvision.runs.report import read_run
    from pyvision.runs.report import report as run_report
    from pyvision.runs.report.run import write_file

    with Store(folder) as store:
        runs = [store.run_folder(record.sample_id, record.repeat) for record in store.records()]
    stale = [run for run in runs if run is not None and not _is_current(run)]
    written = 0
    for done, run in enumerate(stale, 1):
        try:
            page = run_report(read_run(run)).encode()
        except PyVisionError as error:
            tell(f"no report for {run.name}: {error}")
        else:
            write_file(run / REPORT, page)
            written += 1
        watch(done, len(stale))
    return written


def samples_section(folder: Path, results: Sequence[Result], page: Path) -> Section:
    """Every record, with a link to its report if there is one. page: the file that will hold the links."""
    with Store(folder) as store:
        links = tuple(
            _link(store.run_folder(each.record.sample_id, each.record.repeat), page) for each in results
        )
    table = Table(("sample", "repeat", "score", "end", "cells"), tuple(map(_row, results)), links)
    if any(links):
        return Section("Samples", (table,))
    remark = "`bench report DIR --samples` writes a report for each sample and links to it here."
    return Section("Samples", (Paragraph(remark), table))


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
        yield Section("Configuration", (Items(leaves),))
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


def _is_current(run: Path) -> bool:
    page = run / REPORT
    return page.is_file() and page.stat().st_mtime >= (run / EVENTS).stat().st_mtime


def _link(run: Path | None, page: Path) -> str | None:
    """A relative link, so that page and folder can move together; quoted, so that it cannot have a scheme."""
    if run is None or not (run / REPORT).is_file():
        return None
    return quote(Path(os.path.relpath((run / REPORT).resolve(), page.resolve().parent)).as_posix())


def _row(result: Result) -> tuple[str, ...]:
    record, value = result.record, result.value
    score = "–" if value is None else f"{value:g}"
    return record.sample_id, str(record.repeat), score, record.end_reason, str(record.cells)


def _add_plot(section: Section, plot: Plot | None) -> Section:
    return replace(section, parts=(*section.parts, plot)) if plot else section


def _accuracy_plots(results: Sequence[Result]) -> Iterator[Plot]:
    found = summarise(results)
    rows: list[tuple[str, Estimate]] = [("all", found.accuracy)] if found.accuracy else []
    rows += [(row.name, row.accuracy) for row in found.categories if row.accuracy]
    if rows:
        caption = "Accuracy with its 95 % interval, by category"
        yield Plot("Accuracy", plot_accuracy(rows[:_MAX_ROWS]), caption)


def _tool_plots(subject: Subject) -> Iterator[Plot]:
    if not subject.tools or not subject.tools.cells:
        return
    series = {"this run": {title: subject.tools.share(name) for name, title in TITLES.items()}}
    paper = paper_counts(subject.dataset)
    if paper:
        series["the paper"] = {title: paper.share(name) for name, title in TITLES.items()}
    yield Plot("Tools", plot_shares(series), "Classes of tools, as shares of all uses")
