"""Guess which columns make which field of a sample, by the names that datasets commonly give them."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_uppercase

from pyvision.bench.datasets.readers.rows import Columns
from pyvision.errors import ConfigError

_IDS = ("id", "question_id", "questionId", "qid", "pid", "index")
_QUESTIONS = ("question", "query", "text")
_IMAGES = ("image", "images", "decoded_image")
_TARGETS = ("target", "answer", "answers", "label", "ground_truth")
_CHOICES = ("choices", "options")
_CONTEXTS = ("context", "hint")
_CATEGORIES = ("category", "task", "subject")


def guess_columns(names: Iterable[str], place: str) -> Columns:
    """Columns for a table with these names. Raises ConfigError when none of them can be question or truth.

    The first match counts. A table without ids numbers its rows; single capitals from A are the options.
    """
    known = tuple(names)
    letters = tuple(letter for letter in ascii_uppercase if letter in known)
    chosen = _first(_CHOICES, known)
    return Columns(
        id=_first(_IDS, known),
        question=_needed("question", _QUESTIONS, known, place),
        images=tuple(name for name in _IMAGES if name in known)[:1] or _number(known),
        target=_needed("answer", _TARGETS, known, place),
        choices=letters if len(letters) > 1 else (chosen,),
        context=_first(_CONTEXTS, known),
        category=tuple(filter(None, (_first(_CATEGORIES, known),))),
    )


def _first(candidates: tuple[str, ...], known: tuple[str, ...]) -> str:
    return next((name for name in candidates if name in known), "")


def _needed(what: str, candidates: tuple[str, ...], known: tuple[str, ...], place: str) -> str:
    name = _first(candidates, known)
    if not name:
        raise ConfigError(
            f"{place}: no column for the {what} among {', '.join(known)}; call it {' or '.join(candidates)}"
        )
    return name


def _number(known: tuple[str, ...]) -> tuple[str, ...]:
    """image_1, image_2 and so on, as in MMMU."""
    return tuple(name for number in range(10) if (name := f"image_{number}") in known)
