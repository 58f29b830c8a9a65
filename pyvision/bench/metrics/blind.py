r"""VLMsAreBlind: the answers of its seven tasks, one rule each.

`metadata["task"]`, or without it the sample's category, names the task as the dataset labels it; `task_of` recognises
it by its words. `target`: the number, the letter, yes or no; for grids [rows, columns], "4x5" or "4,5".

* intersections of lines, nested squares, circles and pentagons that overlap, paths on a subway map: a whole number, the
  last one in {braces} or in a \boxed{}, else the last of the answer's final part
* grids (with and without words): rows and columns, `{4}{5}`, `(4, 5)`, `4x5`, `rows=4, columns=5`, "4 rows and 5
  columns"
* circles that touch: yes or no
* the circled letter: one letter, in {braces} or quotes or alone, ignoring case

The forms in braces and pairs are those that the paper's prompts ask for; the rest is ours. VLMEvalKit's rules for its
VLMBlind were not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pyvision.bench.metrics.numbers import find_last, whole_number
from pyvision.bench.metrics.registry import final_part, numbers_in, score_equality, target_error, unwrap_box
from pyvision.bench.metrics.text import find_yes_no, truth_of
from pyvision.bench.samples import Sample, Score
from pyvision.errors import ConfigError
from pyvision.text.refusals import clauses_of

_BRACED = re.compile(r"\{\s*([^{}]*?)\s*\}")
_PAIR = re.compile(
    r"(?<!\d)(\d{1,3})\}?\)?\s*(?:[x×,*]|by|\}?\s*\{|and)\s*[({]{0,2}(\d{1,3})(?!\d)",
    re.ASCII | re.IGNORECASE,
)
_NAMED = tuple(  # (rows, columns), with the number behind the name, then before it
    tuple(re.compile(form.format(name), re.ASCII | re.IGNORECASE) for name in ("rows?", "col(?:umn)?s?"))
    for form in (r"\b{}\b\W{{0,2}}\s?(?:[:=]|is|are)\W{{0,3}}(\d{{1,3}})", r"(\d{{1,3}})\W{{0,3}}\s?\b{}\b")
)
_LETTER = re.compile(
    r"[\"'“‘*`({]+\s*([A-Za-z])\s*[\"'”’*`)}]+|(?<![\w'’])([B-HJ-Zb-hj-z])(?![\w'’])", re.ASCII
)
_ALONE = re.compile(r"\W*([A-Za-z])\W*", re.ASCII)


def find_number(answer: str) -> int | None:
    """The last whole number in braces, else what `numbers.find_last` finds."""
    braced = [
        number for text in _BRACED.findall(unwrap_box(answer)) if (number := whole_number(text)) is not None
    ]
    return braced[-1] if braced else find_last(answer)


def find_grid(answer: str) -> tuple[int, int] | None:
    """Rows and columns by their names, else the last pair; nothing from clauses that decline to answer."""
    text = "\n".join(clauses_of(final_part(answer)))
    for of_rows, of_columns in _NAMED:
        rows, columns = of_rows.findall(text), of_columns.findall(text)
        if len(rows) == len(columns) == 1:
            return int(rows[0]), int(columns[0])
    pairs = _PAIR.findall(text)
    return (int(pairs[-1][0]), int(pairs[-1][1])) if pairs else None


def find_letter(answer: str) -> str | None:
    """The one letter that the answer names, as a capital; `a` and `i` only in quotes, in braces or alone."""
    text = final_part(answer)
    if alone := _ALONE.fullmatch(text):
        return alone[1].upper()
    found = {
        (quoted or bare).upper() for clause in clauses_of(text) for quoted, bare in _LETTER.findall(clause)
    }
    return found.pop() if len(found) == 1 else None


def _number(answer: str, sample: Sample) -> Score:
    truth = whole_number(str(sample.target))
    if truth is None:
        raise target_error(sample, "a whole number")
    found = find_number(answer)
    return score_equality(None if found is None else str(found), truth, right=found == truth, what="number")


def _grid(answer: str, sample: Sample) -> Score:
    given = numbers_in(sample.target, 2) or (
        find_grid(sample.target) if isinstance(sample.target, str) else None
    )
    if given is None:
        raise target_error(sample, "[rows, columns]")
    rows, columns = map(int, given)
    found = find_grid(answer)
    pair = f"{found[0]}x{found[1]}" if found else None
    return score_equality(pair, f"{rows}x{columns}", right=found == (rows, columns), what="pair")


def _yes_no(answer: str, sample: Sample) -> Score:
    found, truth = find_yes_no(re.sub(r"[{}]", " ", unwrap_box(answer))), truth_of(sample)
    return score_equality(found, truth, right=found == truth, what="yes or no")


def _letter(answer: str, sample: Sample) -> Score:
    truth = str(sample.target).strip().upper()
    if len(truth) != 1:
        raise target_error(sample, "one letter")
    found = find_letter(answer)
    return score_equality(found, truth, right=found == truth, what="letter")


TASKS: Mapping[str, Callable[[str, Sample], Score]] = {
    "grid": _grid,
    "columns": _grid,
    "touching": _yes_no,
    "letter": _letter,
    "circled": _letter,
    "intersection": _number,
    "nested": _number,
    "olympic": _number,
    "overlap": _number,
    "subway": _number,
    "pentagon": _number,
    "counting": _number,
}
"""A word of the task's name -> its rule; the first word that occurs decides."""


def task_of(sample: Sample) -> str:
    """The word of `TASKS` that the name of the sample's task contains. Raises ConfigError."""
    name = str(sample.metadata.get("task") or sample.category).lower()
    for word in TASKS:
        if word in name:
            return word
    raise ConfigError(
        f"sample {sample.id!r}: unknown task {name!r}; the name must contain one of {', '.join(TASKS)}"
    )


def by_task(answer: str, sample: Sample) -> Score:
    """The rule of the sample's task."""
    return TASKS[task_of(sample)](answer, sample)
