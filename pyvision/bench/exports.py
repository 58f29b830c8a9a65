"""Write the records, answers and scores of an experiment for other programs, in one of several formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.bench.grading import read_answers
from pyvision.bench.samples import UNGRADED, Record, Sample, Score
from pyvision.bench.store import Store, explain_errors
from pyvision.config.files import replace_atomic
from pyvision.errors import ConfigError, MissingExtra, suggest

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a cell that begins so is a formula to a spreadsheet


def export(folder: Path, form: str, file: Path | None = None, metric: str | None = None) -> Path:
    """Write the file, replacing an older one; returns its path. Raises ConfigError, RunFolderError."""
    if form not in FORMATS:
        raise ConfigError(f"unknown format {form!r}; {suggest(form, FORMATS, 'known formats are')}")
    ending, write = FORMATS[form]
    with Store(folder) as store:
        path = file or folder / f"results{ending}"
        rows = [_VIEWS.get(form, _row)(*each) for each in _results(store, metric)]
        with explain_errors(path.parent), replace_atomic(path) as part:
            write(part, rows)
    return path


def _results(store: Store, metric: str | None) -> Iterator[tuple[Record, Sample, Score]]:
    scores = store.scores(metric)
    for record, sample in read_answers(store):
        yield record, sample, scores.get((record.sample_id, record.repeat), UNGRADED)


def _row(record: Record, sample: Sample, score: Score) -> dict[str, Any]:
    """Everything that is known about one answer; images as paths."""
    return {
        **asdict(record),
        "question": sample.text,
        "choices": list(sample.choices),
        "target": sample.target,
        "images": [str(image) for image in sample.images],
        "score": score.value,
        "why": score.why,
        "parsed": score.parsed,
    }


def _vlmevalkit_row(record: Record, sample: Sample, score: Score) -> dict[str, Any]:
    """The columns of VLMEvalKit's result files: index, question, options as letters, answer, prediction."""
    letters = {chr(ord("A") + number): choice for number, choice in enumerate(sample.choices)}
    index = sample.metadata.get("index", record.sample_id)
    return {
        "index": index if record.repeat == 0 else f"{index}#{record.repeat}",
        "question": sample.text,
        **letters,
        "answer": sample.target,
        "category": record.category,
        "prediction": record.answer or "",
        "hit": score.value,
    }


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    _write_separated(
        path, [{column: _escape_formula(value) for column, value in row.items()} for row in rows], ","
    )


def _write_tsv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    _write_separated(path, rows, "\t")


def _write_separated(path: Path, rows: Iterable[Mapping[str, Any]], separator: str) -> None:
    rows = list(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=separator)
        writer.writeheader()
        writer.writerows({column: _cell(value) for column, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    """Lists and mappings as JSON."""
    return (
        value
        if value is None or isinstance(value, str | int | float)
        else json.dumps(value, ensure_ascii=False)
    )


def _escape_formula(value: Any) -> Any:
    """With an apostrophe before a text that a spreadsheet would run as a formula: a model may have written it."""
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write_parquet(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "parquet") from error
    plain = [{**row, "target": json.dumps(row["target"])} for row in rows]  # one column has one type
    parquet.write_table(arrow.Table.from_pylist(plain), path)


_VIEWS: Mapping[str, Callable[[Record, Sample, Score], dict[str, Any]]] = {"vlmevalkit": _vlmevalkit_row}
FORMATS: Mapping[str, tuple[str, Callable[[Path, Iterable[Mapping[str, Any]]], None]]] = {
    "csv": (".csv", _write_csv),
    "jsonl": (".jsonl", _write_lines),
    "vlmevalkit": (".tsv", _write_tsv),
    "parquet": (".parquet", _write_parquet),
}
