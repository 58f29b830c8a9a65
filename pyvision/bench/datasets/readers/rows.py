"""Turn one row of a dataset, whatever its columns are called, into a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar, TypeAlias

from pyvision.bench.datasets.readers.targets import TargetForm, format_value, parse_list, read_target
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

Row: TypeAlias = Mapping[str, Any]
Pictures: TypeAlias = Callable[[Any], tuple[bytes | Path, ...]]
"""What the cell of a picture column holds, as files or their paths; may raise ValueError with what is wrong."""

_EMPTY = ("", "nan", "NaN")  # pandas also takes None, NA and null for empty, which are options that do occur


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns make which field of a sample; a column that is named in none of them is metadata.

    id: "" numbers the rows from 0. images: each holds one picture or a list, and may be empty. choices: one column
    that holds a list, or one column an option, in the order of the letters; `target` is a letter then, or a text.
    category: joined by `/`. wording: the question where a row holds only a phrase; it stands for `{question}`.
    cut_at: what begins the part of a question that only repeats its options. where: rows whose column has another
    value are passed over. each: the column whose list makes one sample of each of its elements.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}  # a row of the table of datasets may hold one

    id: str = "id"
    question: str = "question"
    images: tuple[str, ...] = ("images",)
    target: str = "target"
    choices: tuple[str, ...] = ("choices",)
    context: str = "context"
    category: tuple[str, ...] = ("category",)
    target_form: TargetForm = "as_is"
    wording: str = "{question}"
    cut_at: str = ""
    each: str = ""
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> frozenset[str]:
        """Every column that becomes a field of the sample."""
        single = (self.id, self.question, self.target, self.context)
        return frozenset((*single, *self.images, *self.choices, *self.category))


def rows_in(row: Row, columns: Columns, place: str) -> Iterator[Row]:
    """The rows that are samples: none when the row is of another split. Raises ConfigError."""
    if not all(str(row.get(name, "")) == value for name, value in columns.where.items()):
        return
    if not columns.each:
        yield row
        return
    try:
        elements = parse_list(_needed(row, columns.each), columns.each)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error
    for element in elements:
        yield {**row, columns.each: element}


def sample_of(row: Row, columns: Columns, place: str, number: int, pictures: Pictures) -> Sample:
    """The sample in a row. place: file and line, for messages; number: of the row, from 0.

    Raises ConfigError, or ImageError for a picture, naming place, column and value.
    """
    try:
        options, letters = _options(row, columns)
        target = read_target(_needed(row, columns.target), columns.target_form)
        return Sample(
            id=_id(row, columns.id, number),
            text=_question(row, columns),
            images=tuple(picture for name in columns.images for picture in pictures(row.get(name))),
            target=letters.get(target, target) if isinstance(target, str) else target,
            choices=options,
            context=_optional(row, columns.context),
            category="/".join(part for name in columns.category if (part := _optional(row, name))),
            metadata=_metadata(row, columns),
        )
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing: no value, no text, or pandas' not-a-number."""
    return value is None or (isinstance(value, str) and value.strip() in _EMPTY) or value != value  # noqa: PLR0124


def _question(row: Row, columns: Columns) -> str:
    text = _text(row, columns.question)
    if columns.cut_at and columns.cut_at in text:
        text = text[: text.index(columns.cut_at)].rstrip()
    return columns.wording.replace("{question}", text)


def _needed(row: Row, name: str) -> Any:
    if row.get(name) in (None, ""):
        has = format_value(", ".join(str(each) for each in row if row[each] not in (None, "")))
        raise ValueError(f"field {name!r} is missing; add it to the row, which has: {has}")
    return row[name]


def _text(row: Row, name: str) -> str:
    value = _needed(row, name)
    if not isinstance(value, str) or is_empty(value):
        raise ValueError(f"field {name!r} is {format_value(value)}; give a text")
    return value


def _optional(row: Row, name: str) -> str:
    value = row.get(name)
    if is_empty(value):
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(f"field {name!r} is {format_value(value)}; give a text, or leave it out")


def _id(row: Row, name: str, number: int) -> str:
    if not name:
        return str(number)
    value = _needed(row, name)
    if isinstance(value, bool) or not isinstance(value, str | int) or is_empty(value):
        raise ValueError(f"field {name!r} is {format_value(value)}; give a text or a whole number")
    return str(value)


def _options(row: Row, columns: Columns) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The options, and for each letter of the file the letter of its option's place among them.

    A file may leave out an option in the middle (A, B, D): then the letter of a later one is another here.
    """
    if len(columns.choices) == 1:
        name = columns.choices[0]
        value = row.get(name)
        return ((), {}) if is_empty(value) else (tuple(map(str, parse_list(value, name))), {})
    given = [name for name in columns.choices if not is_empty(row.get(name))]
    return tuple(str(row[name]) for name in given), dict(zip(given, ascii_uppercase, strict=False))


def _metadata(row: Row, columns: Columns) -> dict[str, Any]:
    """What is left, but for pictures that nobody asks about."""
    rest = row.keys() - columns.named
    return {
        str(name): row[name]
        for name in row
        if name in rest and not (is_empty(row[name]) or _is_file(row[name]))
    }


def _is_file(value: Any) -> bool:
    return isinstance(value, bytes) or (isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes))
