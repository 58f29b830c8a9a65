"""Measure a model on small visual questions with exact answers: a table by category, and what was wrong.

python -m benchmarks.blind SAMPLES.jsonl [--model NAME] [--jsonl-out FILE]

A row of the samples is {"id", "question", "target", "images": [paths beside the file], "category"}. Right is
what equals the target when case, spaces and a final full stop are set aside. A sample for which no cell ran
counts as not right, because then nobody looked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyvision
from pyvision.events import RunEnded


@dataclass(frozen=True, slots=True)
class Sample:
    """One question; `images` are whole paths."""

    id: str
    question: str
    target: str
    category: str
    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """How one sample went; `answer` is None where there was none, `why` says so."""

    id: str
    category: str
    target: str
    answer: str | None
    right: bool
    cells: int
    seconds: float
    why: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the samples one after another and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind", description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path, help="a file of JSON lines")
    parser.add_argument("--model", default="offline", help="as for `pyvision run` (default: offline)")
    parser.add_argument("--jsonl-out", type=Path, help="write every result here as a JSON line")
    options = parser.parse_args(arguments)
    results = []
    for sample in read_samples(options.samples):
        results.append(measure(sample, options.model))
        print(
            f"{sample.id}: {results[-1].answer} ({'right' if results[-1].right else 'wrong'})",
            file=sys.stderr,
        )
    if options.jsonl_out:
        options.jsonl_out.write_text("".join(json.dumps(asdict(result)) + "\n" for result in results))
    print(table(results))


def read_samples(path: Path) -> list[Sample]:
    """The samples of a file; its image paths are relative to it."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        Sample(
            str(row["id"]),
            row["question"],
            str(row["target"]),
            str(row.get("category", "all")),
            tuple(str(path.parent / image) for image in row["images"]),
        )
        for row in rows
    ]


def measure(sample: Sample, model: str) -> Result:
    """One sample, through the public face of the package."""
    events = pyvision.stream(sample.question, images=sample.images, model=model)
    ended = [event for event in events if isinstance(event, RunEnded)][-1]
    answer, cells = ended.outcome.answer, ended.cells
    right = answer is not None and cells > 0 and normal(answer) == normal(sample.target)
    why = "" if right else ended.outcome.error or ended.outcome.end_reason
    seconds = round(ended.seconds, 2)
    return Result(sample.id, sample.category, sample.target, answer, right, cells, seconds, why)


def normal(answer: str) -> str:
    """An answer without case, spaces, a final full stop, or brackets around a list of numbers."""
    plain = re.sub(r"\s+", "", answer).lower().rstrip(".")
    listed = re.fullmatch(r"[(\[{]?(\d+(?:[,x×]\d+)+)[)\]}]?", plain)
    return re.sub("[x×]", ",", listed[1]) if listed else plain


def table(results: Sequence[Result]) -> str:
    """The results by category and in all, then the wrong ones."""
    head = f"{'category':28}{'n':>5}{'right':>7}{'share':>8}{'cells':>7}{'seconds':>9}"
    categories = list(dict.fromkeys(result.category for result in results))
    rows = [_row(name, [r for r in results if r.category == name]) for name in categories]
    wrong = [
        f"  {r.id}: {r.answer!r}, not {r.target!r}, after {r.cells} cells{': ' + r.why if r.why else ''}"
        for r in results
        if not r.right
    ]
    return "\n".join(
        [head, *rows, _row("all", results), *(["wrong:", *wrong] if wrong else ["none is wrong"])]
    )


def _row(name: str, results: Iterable[Result]) -> str:
    chosen = list(results)
    right, share = sum(r.right for r in chosen), sum(r.right for r in chosen) / max(1, len(chosen))
    cells, seconds = sum(r.cells for r in chosen), sum(r.seconds for r in chosen)
    return f"{name:28}{len(chosen):5}{right:7}{share:8.1%}{cells:7}{seconds:9.1f}"


if __name__ == "__main__":
    main()
