"""`pyvision bench report`, `compare`, `audit` and `plan`: present experiments as Markdown, JSON or a page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import above_zero, add_part, count, share
from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.bench.analysis.compare import ComparedRun, EqualBudget
    from pyvision.bench.analysis.document import Document
    from pyvision.bench.analysis.planning import Pilot
    from pyvision.bench.analysis.read_experiment import Experiment
    from pyvision.bench.harness_card import Differences


def add_report(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench report` and its flags."""
    parser = add_part(
        parts,
        "report",
        "summarise an experiment by category, with confidence intervals and costs",
        report_experiment,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    form = _add_form(parser, "the experiment's own")
    form.add_argument("--markdown", action="store_true", help="print Markdown (the default)")
    parser.add_argument(
        "--samples", action="store_true", help="also write a report for each sample; --html links to them"
    )
    parser.add_argument(
        "--plots", type=Path, metavar="DIR", help="also write the plots to this folder as PNG files"
    )


def add_compare(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench compare` and its flags."""
    parser = add_part(
        parts,
        "compare",
        "compare experiments over the same samples with the first of them",
        compare_experiments,
    )
    parser.add_argument(
        "folders",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="two or more experiments; the first is the baseline",
    )
    _add_form(parser, "that of each experiment")
    parser.add_argument(
        "--equal-tokens",
        action="store_true",
        help="compare at an equal budget: the cheaper experiment of each pair votes over its repeats",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed for choosing the repeats that vote (default 0)"
    )
    parser.add_argument(
        "--detect",
        type=points,
        metavar="POINTS",
        help="the difference to detect, for the number of missing samples (default: the observed one)",
    )
    _add_strict(parser)


def add_plan(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench plan` and its flags."""
    parser = add_part(
        parts, "plan", "say how many samples a comparison needs, and what they would cost", plan_experiment
    )
    add = parser.add_argument
    add(
        "dataset",
        nargs="?",
        metavar="DATASET",
        help="a dataset, as for `bench run`: also say whether it is large enough",
    )
    add("--detect", type=points, required=True, metavar="POINTS", help="the difference to detect, in points")
    add(
        "--power",
        type=above_half,
        default=0.8,
        metavar="X",
        help="the probability of detecting it, at least 0.5 (default 0.8)",
    )
    add("--repeat", type=count, default=1, metavar="K", help="answers per sample (default 1)")
    add(
        "--pilot",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="an earlier experiment with one of the two setups to compare; give two over the same samples for the "
        "fewest assumptions",
    )
    add("--prices", type=Path, metavar="FILE", help="a price table, for pilots that recorded no cost")
    add(
        "--metric", metavar="NAME:FLAVOUR", help="use the scores of this metric (default: that of each pilot)"
    )
    add("--count", type=count, default=100, metavar="N", help="samples of a generated set (default 100)")
    add("--json", action="store_true", help="print a JSON object")


def add_audit(parts: argparse._SubParsersAction[Any]) -> None:
    """Declare `bench audit` and its flags."""
    parser = add_part(parts, "audit", "measure whether the tools helped, by comparing ablations", audit_tools)
    parser.add_argument(
        "ablations",
        nargs="+",
        metavar="ABLATION=DIR",
        help="experiments over the same samples: direct=DIR, tools=DIR, and any other that `bench list` shows",
    )
    _add_form(parser, "that of each experiment")
    _add_strict(parser)


def report_experiment(options: argparse.Namespace) -> int:
    """Read, print or write; returns the exit code."""
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import read_experiment, references_of
    from pyvision.bench.analysis.report import report

    experiment = read_experiment(options.folder, options.metric, references=references_of(options.folder))
    if options.samples:
        _write_samples(options.folder)
    if options.plots:
        _write_plots(_illustrate(experiment), options.plots)
    if options.html:
        _write_page(_with_samples(experiment, options.folder, options.html), options.html)
    elif options.json:
        print(_report_json(experiment))  # noqa: T201 - the result
    else:
        print(to_markdown(report(experiment.results, experiment.subject)), end="")  # noqa: T201 - the result
    return 0


def compare_experiments(options: argparse.Namespace) -> int:
    """Compare and print or write; returns the exit code."""
    from pyvision.bench.analysis.compare import at_equal_tokens
    from pyvision.bench.analysis.comparison_report import compare_report, illustrate_comparison
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import read_runs
    from pyvision.bench.harness_card import compare_settings

    runs = read_runs(options.folders, options.metric)
    found = compare_settings(options.folders, strict=options.strict)
    voters = runs[1:] if options.equal_tokens else ()
    budgets = [at_equal_tokens(runs[0], run, seed=options.seed) for run in voters]
    if options.html:
        document = illustrate_comparison(runs, budgets, detect=options.detect, differences=found)
        _write_page(document, options.html)
    elif options.json:
        print(_comparison_json(runs, budgets, options.detect, found))  # noqa: T201 - the result
    else:
        document = compare_report(runs, budgets, detect=options.detect, differences=found)
        print(to_markdown(document), end="")  # noqa: T201 - the result
    return 0


def audit_tools(options: argparse.Namespace) -> int:
    """Audit and print or write; returns the exit code."""
    from pyvision.bench.analysis.audit import audit_report, audit_table
    from pyvision.bench.analysis.comparison_report import differences_sections
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.read_experiment import check_comparable, read_results
    from pyvision.bench.harness_card import compare_settings

    folders = _ablation_folders(options.ablations)
    check_comparable(tuple(folders.values()), options.metric)
    audit = audit_table({name: read_results(folder, options.metric) for name, folder in folders.items()})
    found = compare_settings(tuple(folders.values()), strict=options.strict)
    document = audit_report(audit, f"Audit of {folders['tools'].name}", differences_sections(found))
    if options.html:
        _write_page(document, options.html)
    elif options.json:
        about = {**asdict(audit), "differences": asdict(found)}
        print(json.dumps(about, ensure_ascii=False))  # noqa: T201 - the result
    else:
        print(to_markdown(document), end="")  # noqa: T201 - the result
    return 0


def plan_experiment(options: argparse.Namespace) -> int:
    """Plan and print; returns the exit code."""
    from pyvision.bench.analysis.document import to_markdown
    from pyvision.bench.analysis.planning import plan_report, plan_samples
    from pyvision.bench.datasets.sources import find_source

    available = None
    if options.dataset:
        source = find_source(options.dataset, count=options.count, seed=0, difficulty=0.5)
        available = source.count_samples()
    found = plan_samples(
        options.detect,
        power=options.power,
        repeats=options.repeat,
        pilots=_pilots(options),
        available=available,
    )
    if options.json:
        print(json.dumps(asdict(found), ensure_ascii=False))  # noqa: T201 - the result
    else:
        print(to_markdown(plan_report(found, options.dataset or "")), end="")  # noqa: T201 - the result
    return 0


def points(text: str) -> float:
    """A difference in points, as a share."""
    value = above_zero(text)
    if value > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 100 points")
    return value / 100


def above_half(text: str) -> float:
    """A probability from one half to below 1."""
    value = share(text)
    if not 0.5 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.5 to below 1")
    return value


def _pilots(options: argparse.Namespace) -> tuple[Pilot, ...]:
    from pyvision.bench.analysis.compare import ComparedRun
    from pyvision.bench.analysis.planning import Pilot, price_of
    from pyvision.bench.analysis.read_experiment import check_comparable, read_results
    from pyvision.bench.store import Store
    from pyvision.config.prices import load_prices

    if len(options.pilot) > 2:
        raise ConfigError(
            f"{len(options.pilot)} pilots are given; a comparison has two runs, so give two at most"
        )
    check_comparable(options.pilot, options.metric)
    prices = load_prices(options.prices) if options.prices else {}
    found = []
    for folder in options.pilot:
        with Store(folder) as store:
            price = price_of(store.configuration, prices)
        run = ComparedRun(folder.resolve().name, read_results(folder, options.metric))
        found.append(Pilot(run, price))
    return tuple(found)


def _add_strict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict", action="store_true", help="refuse experiments whose harnesses differ, instead of warning"
    )


def _add_form(parser: argparse.ArgumentParser, metric: str) -> argparse._MutuallyExclusiveGroup:
    parser.add_argument(
        "--metric", metavar="NAME:FLAVOUR", help=f"use the scores of this metric (default: {metric})"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON object")
    form.add_argument("--html", type=Path, metavar="FILE", help="write one HTML file that works offline")
    return form


def _illustrate(experiment: Experiment) -> Document:
    from pyvision.bench.analysis.report import illustrate_report

    return illustrate_report(experiment.results, experiment.subject)


def _with_samples(experiment: Experiment, folder: Path, page: Path) -> Document:
    from pyvision.bench.analysis.sample_pages import failures_section, samples_section

    document = _illustrate(experiment)
    finding, *others = document.sections
    failures = failures_section(folder, experiment.results, page)
    samples = samples_section(folder, experiment.results, page)
    sections = (finding, *((failures,) if failures else ()), *others, samples)
    return replace(document, sections=sections)


def _write_samples(folder: Path) -> None:
    from pyvision.bench.analysis.sample_pages import write_sample_pages
    from pyvision.bench.runner.progress import print_counts

    written = write_sample_pages(folder, watch=print_counts("reports"), tell=_tell)
    _tell(f"wrote {written} sample reports, as {folder}/runs/*/report.html")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - where progress goes


def _report_json(experiment: Experiment) -> str:
    from pyvision.bench.analysis.summary import summarise

    found = {**asdict(experiment.subject), **asdict(summarise(experiment.results))}
    return json.dumps(found, ensure_ascii=False, default=str)


def _comparison_json(
    runs: Sequence[ComparedRun],
    budgets: Sequence[EqualBudget],
    detect: float | None,
    differences: Differences,
) -> str:
    from pyvision.bench.analysis.compare import compare, price

    found = {
        "runs": [{"name": run.name, "records": len(run.results), **asdict(price(run))} for run in runs],
        "against_the_first": [asdict(each) for each in compare(*runs, detect=detect)],
        "at_equal_tokens": [asdict(each) for each in budgets],
        "differences": asdict(differences),
    }
    return json.dumps(found, ensure_ascii=False)


def _ablation_folders(ablations: Sequence[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name, folder in map(_parse_ablation, ablations):
        if name in found:
            raise ConfigError(
                f"the ablation {name!r} is given twice: {found[name]} and {folder}; leave one out"
            )
        found[name] = folder
    return found


def _parse_ablation(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not equals or not folder:
        raise ConfigError(f"{text!r} is not ABLATION=DIR, as in tools=runs/bench/mine")
    return name, Path(folder)


def _write_page(document: Document, file: Path) -> None:
    from pyvision.bench.analysis.page import to_page

    _write(file, to_page(document).encode())


def _write_plots(document: Document, folder: Path) -> None:
    for plot in document.plots:
        _write(folder / f"{plot.name.lower().replace(' ', '-')}.png", plot.png)


def _write(file: Path, data: bytes) -> None:
    from pyvision.config.files import write_file

    write_file(file, data, "choose another path")
    _tell(f"wrote {file}")
