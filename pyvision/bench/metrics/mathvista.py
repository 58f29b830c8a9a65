"""MathVista: option, whole number, decimal or list, compared as in its official script or in VLMEvalKit.

`target`: the answer as the dataset gives it, a text, or for choices the option's text or letter.
`metadata["answer_type"]`: integer, float, list or text; `metadata["precision"]`: decimals of a float (1 when absent).
With `choices` the question is multiple choice, regardless of the answer's type.

Flavours
* strict: the published script has a model take the answer out of the reply, then rules make it comparable: a whole
  number is cut to its integer part, a decimal rounded. Rules stand in for that model here: the final part of the
  answer, and in it the last number outside of clauses that decline to answer; a choice as `choice.strict`.
* as-published: the published rules, on an answer as the model of the script takes it out: a choice by "(X)", by its
  bare letter, else the option at the smallest edit distance, however large it is, unless the reply only declines;
  numbers by float() of the whole answer; a list or a text by its characters. Answers of more than 2,000 characters,
  which no extraction is, have no nearest option.
* vlmevalkit: choices by its `can_infer`, whole numbers and decimals by int() and float() of the whole answer ("5.0" is
  not a whole number); a list or a text is always wrong, because it is compared with the text of None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from pyvision.bench.metrics import choice
from pyvision.bench.metrics.choice import Options, options_of, right_letter
from pyvision.bench.metrics.mathvision import value_of
from pyvision.bench.metrics.numbers import find_int
from pyvision.bench.metrics.registry import final_part, score_equality, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.text.refusals import clauses_of

_BRACKETED = re.compile(r"\(([a-zA-Z])\)")
_NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-−]?\.\d+", re.ASCII)
_LIST = re.compile(r"\[[^\[\]]*\]")
_LONGEST_EXTRACTION = 2_000


def strict(answer: str, sample: Sample) -> Score:
    """The published rules after an extraction by rules."""
    if sample.choices:
        return choice.strict(answer, sample)
    return _compare(_STRICT[_type_of(sample)](answer, sample), sample)


def as_published(answer: str, sample: Sample) -> Score:
    """The published rules on an extracted answer."""
    text = unwrap_box(answer)
    if sample.choices:
        options, right = options_of(sample), right_letter(sample)
        letter = choice.unless_declined(text, _nearest(text.strip(), options), options)
        right_text = options[right]
        is_right = letter is not None and options[letter] == right_text
        return score_equality(letter, right, right=is_right, what="option")
    match _type_of(sample):
        case "integer":
            value = _of_float(text)
            return _compare(str(int(value)) if value is not None and math.isfinite(value) else None, sample)
        case "float":
            value = _of_float(text)
            return _compare(None if value is None else str(round(value, _precision(sample))), sample)
        case _:
            return score_equality(text, sample.target, right=text == str(sample.target))


def vlmevalkit(answer: str, sample: Sample) -> Score:
    """VLMEvalKit's rules on the whole answer."""
    if sample.choices:
        return choice.vlmevalkit(answer, sample)
    match _type_of(sample):
        case "integer":
            return _score_number(find_int(answer), sample)
        case "float":
            return _score_number(_of_float(unwrap_box(answer)), sample)
        case kind:
            return Score(0.0, f"VLMEvalKit compares a {kind} with the text of None", "None")


def _type_of(sample: Sample) -> str:
    kind = str(sample.metadata.get("answer_type", "text"))
    return kind if kind in _STRICT else "text"


def _nearest(text: str, options: Options) -> str | None:
    """The option by letter, or the one whose text is nearest."""
    if bracketed := _BRACKETED.search(text):
        text = bracketed[1].upper()
    if text in options:
        return text
    if len(text) > _LONGEST_EXTRACTION:
        return None
    return min(options, key=lambda letter: edit_distance(text, options[letter]))


def _number(answer: str) -> float | None:
    text = final_part(answer)
    value = value_of(text)
    found = _NUMBER.findall("\n".join(clauses_of(text)))
    return value if value is not None or not found else value_of(found[-1])


def _whole(answer: str, _: Sample) -> str | None:
    value = _number(answer)
    return None if value is None else str(int(value))


def _round(answer: str, sample: Sample) -> str | None:
    value = _number(answer)
    return None if value is None else str(round(value, _precision(sample)))


def _precision(sample: Sample) -> int:
    return int(float(sample.metadata.get("precision") or 1))


def _list(answer: str, _: Sample) -> str | None:
    found = _LIST.findall(final_part(answer))
    return _list_text(found[-1]) if found else None


def _list_text(text: str) -> str:
    """A list of numbers as Python writes it, any other text unchanged."""
    values = [part.strip() for part in text.strip("[] ").split(",")]
    if not all(_NUMBER.fullmatch(value) for value in values):
        return text
    return f"[{', '.join(values)}]"


def _text(answer: str, _: Sample) -> str | None:
    return final_part(answer) or None


_STRICT: Mapping[str, Callable[[str, Sample], str | None]] = {
    "text": _text,
    "integer": _whole,
    "float": _round,
    "list": _list,
}


def _compare(found: str | None, sample: Sample) -> Score:
    """Equality of texts, as the published script ends."""
    truth = _list_text(str(sample.target)) if _type_of(sample) == "list" else target_texts(sample)[0]
    return score_equality(found, truth, right=found == truth)


def _of_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _score_number(found: float | None, sample: Sample) -> Score:
    (truth, *_) = target_texts(sample)
    parsed = None if found is None else str(found)
    return score_equality(parsed, truth, right=found is not None and found == _of_float(truth))


def edit_distance(left: str, right: str) -> int:
    """How many characters must be put in, taken out or replaced to make one text the other (Levenshtein)."""
    row = list(range(len(right) + 1))
    for above, character in enumerate(left):
        diagonal, row[0] = row[0], above + 1
        for column, other in enumerate(right, start=1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (character != other)),
            )
    return row[-1]
