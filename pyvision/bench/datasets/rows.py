"""Turn the rows of a dataset into samples, whatever its columns are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar, TypeAlias

from pyvision.bench.datasets.cells import TargetForm, format_value, is_empty, parse_list, read_target
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

Row: TypeAlias = Mapping[str, Any]
ImageReader: TypeAlias = Callable[[Any], tuple[bytes | Path, ...]]
"""Reads the cell of an image column as files or paths; may raise ValueError with a readable message."""

# Names that datasets commonly give to their columns, in order of preference.
_IDS = ("id", "question_id", "questionId", "qid", "pid", "index")
_QUESTIONS = ("question", "query", "text")
_IMAGES = ("image", "images", "decoded_image")
_TARGETS = ("target", "answer", "answers", "label", "ground_truth")
_CHOICES = ("choices", "options")
_CONTEXTS = ("context", "hint")
_CATEGORIES = ("category", "task", "subject")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns become which field of a sample; all others are metadata.

    id: "" numbers the rows from 0. images: each holds one image or a list, and may be empty. choices: one column that
    holds a list, or one column for each option, in the order of the letters; `target` is then a letter or a text.
    category: joined by `/`. wording: the question if rows hold only a phrase, which replaces `{question}`.
    cut_at: start of the part of a question that only repeats its options. where: skips rows whose column has another
    value. each: the column whose list yields one sample per element.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}  # may be part of a row of datasets.json

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


def expand_row(row: Row, columns: Columns, place: str) -> Iterator[Row]:
    """The rows that become samples: none if `where` excludes the row, several with `each`. Raises ConfigError."""
    if not all(str(row.get(name, "")) == value for name, value in columns.where.items()):
        return
    if not columns.each:
        yield row
        return
    try:
        elements = parse_list(_require(row, columns.each), columns.each)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error
    for element in elements:
        yield {**row, columns.each: element}


def make_sample(row: Row, columns: Columns, place: str, number: int, read_images: ImageReader) -> Sample:
    """The sample in a row. place: file and line, for messages; number: of the row, from 0.

    Raises ConfigError, or ImageError for an image, naming place, column and value.
    """
    try:
        options, letters = _options(row, columns)
        target = read_target(_require(row, columns.target), columns.target_form)
        return Sample(
            id=_sample_id(row, columns.id, number),
            text=_question(row, columns),
            images=tuple(image for name in columns.images for image in read_images(row.get(name))),
            target=letters.get(target, target) if isinstance(target, str) else target,
            choices=options,
            context=_optional_text(row, columns.context),
            category="/".join(part for name in columns.category if (part := _optional_text(row, name))),
            metadata=_metadata(row, columns),
        )
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error


def guess_columns(names: Iterable[str], place: str) -> Columns:
    """The columns of a table with these names. Raises ConfigError if the question or the answer is missing.

    The first match wins. Without an id column, rows are numbered; columns named A, B, … are the options.
    """
    known = tuple(names)
    letters = tuple(letter for letter in ascii_uppercase if letter in known)
    chosen = _first_match(_CHOICES, known)
    return Columns(
        id=_first_match(_IDS, known),
        question=_require_column("question", _QUESTIONS, known, place),
        images=tuple(name for name in _IMAGES if name in known)[:1] or _find_numbered_images(known),
        target=_require_column("answer", _TARGETS, known, place),
        choices=letters if len(letters) > 1 else (chosen,),
        context=_first_match(_CONTEXTS, known),
        category=tuple(filter(None, (_first_match(_CATEGORIES, known),))),
    )


class Ids:
    """The ids of one file, each of which may occur once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, sample_id: str, path: object, line: int) -> None:
        """Remember an id. Raises ConfigError if it is a duplicate."""
        if sample_id in self._places:
            before = self._places[sample_id]
            raise ConfigError(
                f"{path}: line {line}: duplicate id {sample_id!r}, first used on line {before}; make ids unique"
            )
        self._places[sample_id] = line


def _question(row: Row, columns: Columns) -> str:
    text = _require_text(row, columns.question)
    if columns.cut_at and columns.cut_at in text:
        text = text[: text.index(columns.cut_at)].rstrip()
    return columns.wording.replace("{question}", text)


def _require(row: Row, name: str) -> Any:
    if row.get(name) in (None, ""):
        has = format_value(", ".join(str(each) for each in row if row[each] not in (None, "")))
        raise ValueError(f"field {name!r} is missing or empty; add it to the row, which has: {has}")
    return row[name]


def _require_text(row: Row, name: str) -> str:
    value = _require(row, name)
    if not isinstance(value, str) or is_empty(value):
        raise ValueError(f"field {name!r} is {format_value(value)}; expected a text")
    return value


def _optional_text(row: Row, name: str) -> str:
    value = row.get(name)
    if is_empty(value):
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(f"field {name!r} is {format_value(value)}; expected a text or nothing")


def _sample_id(row: Row, name: str, number: int) -> str:
    if not name:
        return str(number)
    value = _require(row, name)
    if isinstance(value, bool) or not isinstance(value, str | int) or is_empty(value):
        raise ValueError(f"field {name!r} is {format_value(value)}; expected a text or an integer")
    return str(value)


def _options(row: Row, columns: Columns) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The options, and the letter of each column mapped to the letter of its option.

    They differ if a file leaves out an option in the middle (A, B, D).
    """
    if len(columns.choices) == 1:
        name = columns.choices[0]
        value = row.get(name)
        return ((), {}) if is_empty(value) else (tuple(map(str, parse_list(value, name))), {})
    given = [name for name in columns.choices if not is_empty(row.get(name))]
    return tuple(str(row[name]) for name in given), dict(zip(given, ascii_uppercase, strict=False))


def _metadata(row: Row, columns: Columns) -> dict[str, Any]:
    """All other columns, except further image files."""
    rest = row.keys() - columns.named
    return {
        str(name): row[name]
        for name in row
        if name in rest and not (is_empty(row[name]) or _is_image_file(row[name]))
    }


def _is_image_file(value: Any) -> bool:
    return isinstance(value, bytes) or (isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes))


def _first_match(candidates: tuple[str, ...], known: tuple[str, ...]) -> str:
    return next((name for name in candidates if name in known), "")


def _require_column(what: str, candidates: tuple[str, ...], known: tuple[str, ...], place: str) -> str:
    name = _first_match(candidates, known)
    if not name:
        raise ConfigError(
            f"{place}: no column for the {what} among {', '.join(known)}; name it {' or '.join(candidates)}"
        )
    return name


def _find_numbered_images(known: tuple[str, ...]) -> tuple[str, ...]:
    """image_1, image_2 and so on, as in MMMU."""
    return tuple(name for number in range(10) if (name := f"image_{number}") in known)
