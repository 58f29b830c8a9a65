"""`pyvision bench list`: what there is to run, what of it is here, and how it can be graded."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyvision.bench.datasets.registry import Dataset

_TITLE_CHARS = 26
_EXPLAINED = """\
  here            a file in $PYVISION_DATA, $LMUData or ~/.cache/pyvision/data
  fetch           one command brings it; `pyvision bench list NAME` says which
  make            out of what its authors publish; the same command says how
  pyvision[data]  from the hub, by an extra that is {installed}"""
_NEEDED = {"ray": "ray", "parquet": "parquet"}  # engine or format -> the extra that it needs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="all that is known of one dataset")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the names, or one dataset; returns the exit code."""
    if options.name:
        from pyvision.bench.datasets.registry import find_dataset

        found = _about(find_dataset(options.name))
        text = "\n".join(_lines(options.name, found))
    else:
        found = _known()
        text = "\n".join(_overview(found))
    print(json.dumps(found, ensure_ascii=False) if options.json else text)  # noqa: T201 - what it is for
    return 0


def _known() -> dict[str, Any]:
    from pyvision.bench.ablations import ABLATIONS
    from pyvision.bench.datasets.registry import load_datasets
    from pyvision.bench.exports import FORMATS
    from pyvision.bench.metrics import METRICS
    from pyvision.bench.runner.engines.registry import ENGINES
    from pyvision.bench.synthetic import SETS
    from pyvision.solve import STRATEGIES

    return {
        "datasets": {name: _about(row) for name, row in load_datasets().items()},
        "synthetic": [f"synthetic/{name}" for name in sorted(SETS)],
        "metrics": {name: ", ".join(flavours) for name, flavours in METRICS.items()},
        "strategies": sorted(STRATEGIES),
        "arms": {ablation.name: ablation.purpose for ablation in ABLATIONS},
        "engines": {name: _extra(name) for name in ENGINES},
        "formats": {name: _extra(name) for name in FORMATS},
    }


def _about(dataset: Dataset) -> dict[str, Any]:
    from pyvision.bench.datasets.availability import availability_of, has_extra

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


def _extra(name: str) -> str:
    from pyvision.bench.datasets.availability import has_extra

    extra = _NEEDED.get(name)
    return "" if extra is None or has_extra(extra) else f"needs pip install 'pyvision[{extra}]'"


def _overview(known: Mapping[str, Any]) -> Iterator[str]:
    from pyvision.bench.datasets.availability import has_extra

    yield "datasets:"
    for name, about in known["datasets"].items():
        title = _cut(f"{about['title']}, {about['split']}")
        yield f"  {name:15}  {title:{_TITLE_CHARS}} {about['samples'] or '?':>5}  {about['state']}"
    yield _EXPLAINED.format(installed="installed" if has_extra("data") else "not installed")
    for kind, names in known.items():
        if kind != "datasets":
            yield f"{kind}:"
            told = names if isinstance(names, dict) else dict.fromkeys(names, "")
            yield from (f"  {name:16} {text}".rstrip() for name, text in told.items())


def _lines(name: str, about: Mapping[str, Any]) -> Iterator[str]:
    """One dataset; a command stays on one line, however long, to be copied."""
    yield f"{name}: {about['title']}, {about['split']}"
    for key in ("samples", "metric", "licence", "note", "state", "file"):
        if about[key]:
            yield f"  {key}: {about[key]}"
    for key in ("how to get it", "published"):
        if about[key]:
            yield f"  {key}:"
            yield from (f"    {line}" for line in about[key])
    if about["extra"] and not about["extra installed"]:
        yield f"  the hub needs: pip install 'pyvision[{about['extra']}]'"


def _cut(title: str) -> str:
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
