"""`pyvision bench report`: what an experiment came to, as Markdown, JSON, or a page with plots."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyvision.bench.analysis.document import Document
    from pyvision.bench.analysis.read_experiment import Experiment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    parser.add_argument("--metric", metavar="NAME:FLAVOUR", help="whose scores (default: the run's)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown (this is the default)")
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--html", type=Path, metavar="FILE", help="write one page that opens offline")
    parser.add_argument(
        "--samples", action="store_true", help="write each sample's own report too; --html links to them"
    )
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the plots there as PNG files too")


def run(options: argparse.Namespace) -> int:
    """Read, print or write; returns the exit code."""
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import read_experiment, references_of
    from pyvision.bench.analysis.report import report
    from pyvision.cli.bench.writing import write_page, write_plots

    experiment = read_experiment(options.folder, options.metric, references=references_of(options.folder))
    if options.samples:
        _write_samples(options.folder)
    if options.plots:
        write_plots(_illustrate(experiment), options.plots)
    if options.html:
        write_page(_with_samples(experiment, options.folder, options.html), options.html)
    elif options.json:
        print(_json(experiment))  # noqa: T201 - the result
    else:
        print(to_markdown(report(experiment.results, experiment.subject)), end="")  # noqa: T201 - the result
    return 0


def _illustrate(experiment: Experiment) -> Document:
    from pyvision.bench.analysis.report import illustrate_report

    return illustrate_report(experiment.results, experiment.subject)


def _with_samples(experiment: Experiment, folder: Path, page: Path) -> Document:
    from dataclasses import replace

    from pyvision.bench.analysis.report import samples_section

    document = _illustrate(experiment)
    return replace(document, sections=(*document.sections, samples_section(folder, experiment.results, page)))


def _write_samples(folder: Path) -> None:
    from pyvision.bench.analysis.report import write_sample_pages
    from pyvision.bench.runner.progress import counting

    written = write_sample_pages(folder, watch=counting("reports"), tell=_tell)
    _tell(f"wrote {written} reports of samples, as {folder}/runs/*/report.html")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - where progress goes


def _json(experiment: Experiment) -> str:
    import json
    from dataclasses import asdict

    from pyvision.bench.analysis.summary import summarise

    found = {**asdict(experiment.subject), **asdict(summarise(experiment.results))}
    return json.dumps(found, ensure_ascii=False, default=str)
