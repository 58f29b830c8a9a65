"""Adds the plots to the report of an experiment; matplotlib loads here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyvision.bench.analysis.document import Document, Plot, Section
from pyvision.bench.analysis.paper_tools import paper_counts
from pyvision.bench.analysis.plots import plot_accuracy, plot_shares
from pyvision.bench.analysis.report import Subject, report
from pyvision.bench.analysis.statistics import Estimate
from pyvision.bench.analysis.summary import summarise
from pyvision.bench.analysis.tool_rules import TITLES
from pyvision.bench.results import Result

_MOST_ROWS = 100


def illustrate_report(results: Sequence[Result], subject: Subject) -> Document:
    """The report with its plots, each at the end of the section that it belongs to."""
    plots = {plot.name: plot for plot in (*_accuracy(results), *_tools(subject))}
    document = report(results, subject)
    return replace(
        document, sections=tuple(_with(section, plots.get(section.title)) for section in document.sections)
    )


def _with(section: Section, plot: Plot | None) -> Section:
    return replace(section, parts=(*section.parts, plot)) if plot else section


def _accuracy(results: Sequence[Result]) -> Iterator[Plot]:
    found = summarise(results)
    rows: list[tuple[str, Estimate]] = [("all", found.accuracy)] if found.accuracy else []
    rows += [(row.name, row.accuracy) for row in found.categories if row.accuracy]
    if rows:
        words = "Accuracy with its 95 % interval, by category"
        yield Plot("Accuracy", plot_accuracy(rows[:_MOST_ROWS]), words)


def _tools(subject: Subject) -> Iterator[Plot]:
    if not subject.tools or not subject.tools.cells:
        return
    series = {"this run": {title: subject.tools.share(name) for name, title in TITLES.items()}}
    paper = paper_counts(subject.dataset)
    if paper:
        series["the paper"] = {title: paper.share(name) for name, title in TITLES.items()}
    yield Plot("Tools", plot_shares(series), "Classes of tools, as shares of all uses")
