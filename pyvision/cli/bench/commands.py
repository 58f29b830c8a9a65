"""`pyvision bench`: declare its commands; list what can be run; export the results of an experiment."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.bench.report import add_audit, add_compare, add_plan, add_report
from pyvision.cli.bench.run import add_grade, add_run
from pyvision.cli.flags import add_commands, add_part

if TYPE_CHECKING:
    from pyvision.bench.datasets.registry import Dataset

_TITLE_CHARS = 26
_LEGEND = """\
  here            a file in $PYVISION_DATA, $LMUData or ~/.cache/pyvision/data
  fetch           can be downloaded: see `pyvision bench list NAME`
  make            must be built from what its authors publish: see the same
  extra data      from the Hugging Face hub: pip install 'pyvision-agent[data]';
                  this extra is {installed}"""
_EXTRAS = {"ray": "ray", "parquet": "parquet"}  # engine or format -> the extra that it needs


def add_bench(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parts = add_commands(commands, "bench")
    add_plan(parts)
    add_run(parts)
    _add_list(parts)
    add_grade(parts)
    add_report(parts)
    add_compare(parts)
    add_audit(parts)
    _add_export(parts)
    _add_recover(parts)


def list_known(options: argparse.Namespace) -> int:
    """Print all names, or one dataset; returns the exit code."""
    if options.metrics:
        from pyvision.bench.metrics.conformance import describe, to_text

        rows = describe(options.name)
        print(json.dumps(rows, ensure_ascii=False) if options.json else to_text(rows))  # noqa: T201 - the result
        return 0
    if options.name:
        from pyvision.bench.datasets.registry import find_dataset

        found = _describe(find_dataset(options.name))
        text = "\n".join(_format_dataset(options.name, found))
    else:
        found = _find_known()
        text = "\n".join(_format_overview(found))
    print(json.dumps(found, ensure_ascii=False) if options.json else text)  # noqa: T201 - the result
    return 0


def export_results(options: argparse.Namespace) -> int:
    """Write the file and print its name; returns the exit code."""
    from pyvision.bench.exports import export

    print(export(options.folder, options.to, options.file, options.metric))  # noqa: T201 - the result
    return 0


def recover_results(options: argparse.Namespace) -> int:
    """Restore the database and print what was found; returns the exit code."""
    from pyvision.bench.database_repair import recover

    found = recover(options.folder)
    lines = [
        f"{found.records:,} records are intact"
        if found.damaged is None
        else f"restored {found.records:,} records; the damaged database is now {found.damaged}"
    ]
    if found.runs:
        lines.append(
            f"{found.runs:,} run folders have no record; the same `bench run` command records the complete ones "
            "without asking a model again"
        )
    print("\n".join(lines))  # noqa: T201 - the result
    return 0


def _add_list(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "list", "list datasets, generated sets, metrics and formats", list_known)
    parser.add_argument("name", nargs="?", metavar="NAME", help="show the details of one dataset")
    parser.add_argument(
        "--metrics",
        action="store_true",
        help="show how each flavour of the metrics (or of metric NAME) compares with the published scorer",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def _add_export(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(
        parts, "export", "write the records and scores of an experiment to a file", export_results
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    parser.add_argument("--to", required=True, metavar="FORMAT", help="csv, jsonl, vlmevalkit or parquet")
    parser.add_argument(
        "--metric",
        metavar="NAME:FLAVOUR",
        help="export the scores of this metric (default: the experiment's own)",
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="the file to write (default: DIR/results.…)"
    )


def _add_recover(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "recover", "restore the damaged database of an experiment", recover_results)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")


def _find_known() -> dict[str, Any]:
    from pyvision.bench.ablations import ABLATIONS
    from pyvision.bench.datasets.registry import load_datasets
    from pyvision.bench.exports import FORMATS
    from pyvision.bench.metrics import METRICS
    from pyvision.bench.runner.engine import ENGINES
    from pyvision.bench.synthetic import SETS
    from pyvision.solve import STRATEGIES

    return {
        "datasets": {name: _describe(row) for name, row in load_datasets().items()},
        "synthetic": [f"synthetic/{name}" for name in sorted(SETS)],
        "metrics": {name: ", ".join(flavours) for name, flavours in METRICS.items()},
        "strategies": sorted(STRATEGIES),
        "ablations": {ablation.name: ablation.purpose for ablation in ABLATIONS},
        "engines": {name: _format_extra(name) for name in ENGINES},
        "formats": {name: _format_extra(name) for name in FORMATS},
    }


def _describe(dataset: Dataset) -> dict[str, Any]:
    from pyvision.bench.datasets.registry import availability_of, has_extra

    found = availability_of(dataset)
    return {
        "title": dataset.title,
        "split": dataset.split,
        "samples": dataset.count,
        "state": found.state,
        "file": str(found.file) if found.file else None,
        "how to get it": list(found.ways),
        "extra": found.extra,
        "extra installed": found.extra is not None and has_extra(found.extra),
        "metric": ":".join(part for part in (dataset.metric, dataset.flavour) if part) or "each sample's own",
        "licence": dataset.licence,
        "note": dataset.note,
        "published": [f"{each.value:g}: {each.model} ({each.source})" for each in dataset.references],
    }


def _format_extra(name: str) -> str:
    from pyvision.bench.datasets.registry import has_extra

    extra = _EXTRAS.get(name)
    return "" if extra is None or has_extra(extra) else f"needs pip install 'pyvision-agent[{extra}]'"


def _format_overview(known: Mapping[str, Any]) -> Iterator[str]:
    from pyvision.bench.datasets.registry import has_extra

    yield "datasets:"
    for name, about in known["datasets"].items():
        title = _shorten(f"{about['title']}, {about['split']}")
        yield f"  {name:15}  {title:{_TITLE_CHARS}} {about['samples'] or '?':>5}  {about['state']}"
    yield _LEGEND.format(installed="installed" if has_extra("data") else "not installed")
    for kind, names in known.items():
        if kind != "datasets":
            yield f"{kind}:"
            texts = names if isinstance(names, dict) else dict.fromkeys(names, "")
            yield from (f"  {name:16} {text}".rstrip() for name, text in texts.items())


def _format_dataset(name: str, about: Mapping[str, Any]) -> Iterator[str]:
    """The details of a dataset; long commands are not wrapped, so that they can be copied."""
    yield f"{name}: {about['title']}, {about['split']}"
    for key in ("samples", "metric", "licence", "note", "state", "file"):
        if about[key]:
            yield f"  {key}: {about[key]}"
    for key in ("how to get it", "published"):
        if about[key]:
            yield f"  {key}:"
            yield from (f"    {line}" for line in about[key])
    if about["extra"] and not about["extra installed"]:
        yield f"  the hub needs: pip install 'pyvision-agent[{about['extra']}]'"


def _shorten(title: str) -> str:
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
