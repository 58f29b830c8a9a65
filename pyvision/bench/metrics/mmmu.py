"""MMMU: choices by its own matching, free answers by the phrases that follow its key words.

`target`: the option's letter or text; for a free answer one text or a list of accepted ones.

Flavours
* strict: choices as `choice.strict`; free answers as published, but a text must stand in the answer as whole words, and
  not in a clause that declines to answer.
* as-published: `parse_multi_choice_response`, see `choice.py`, without its random guess; free answers as
  `open_candidates` says; a text is also right inside another word.
* vlmevalkit: choices by `can_infer`; a free answer is turned into the choice between the answer and the words "Other
  Answers". There the question shows both with the letters A and B; here it shows neither, so letters are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pyvision.bench.metrics import choice
from pyvision.bench.metrics.registry import score_equality, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.text.refusals import clauses_of

_KEY_WORDS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_WITH_COMMAS = re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b", re.ASCII)
_SCIENTIFIC = re.compile(r"-?(?<!\d)\d+(?:\.\d+)?e[+-]?\d+", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"-?(?<!\d)(?:\d+\.\d+|\.\d+|\d+\b)(?!e[+-]?\d)(?![,\d])", re.ASCII | re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?(?:\d+(?:,\d+)*(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)


def strict(answer: str, sample: Sample) -> Score:
    """MMMU's evaluation for replies that name an answer."""
    if sample.choices:
        return choice.strict(answer, sample)
    text = "\n".join(clauses_of(unwrap_box(answer)))
    return _open(text, sample, _holds_words) if text else score_equality(None, "", right=False)


def as_published(answer: str, sample: Sample) -> Score:
    """MMMU's evaluation as published; a choice that is not found is wrong, not guessed."""
    return choice.mmmu(answer, sample) if sample.choices else _open(unwrap_box(answer), sample, _holds)


def vlmevalkit(answer: str, sample: Sample) -> Score:
    """VLMEvalKit's, which knows choices only."""
    if sample.choices:
        return choice.vlmevalkit(answer, sample)
    truths = target_texts(sample)
    letters = [choice.infer_text(unwrap_box(answer), {"A": truth, "B": "Other Answers"}) for truth in truths]
    found = "A" if "A" in letters else next((letter for letter in letters if letter), None)
    return score_equality(found, f"A ({' or '.join(truths)})", right=found == "A")


def _open(answer: str, sample: Sample, holds: Callable[[str, str], bool]) -> Score:
    truths = [form for truth in target_texts(sample) for form in _forms(truth)]
    candidates = open_candidates(answer)
    hit = next((candidate for candidate in candidates if _matches(candidate, truths, holds)), None)
    parsed = str(hit if hit is not None else candidates[-1]).strip() if candidates else ""
    return score_equality(parsed or None, " or ".join(target_texts(sample)), right=hit is not None)


def _matches(candidate: str | float, truths: list[str | float], holds: Callable[[str, str], bool]) -> bool:
    """Equal numbers, or a text that holds one of the truths."""
    if isinstance(candidate, float):
        return candidate in truths
    return any(isinstance(truth, str) and holds(candidate, truth) for truth in truths)


def _holds(text: str, truth: str) -> bool:
    return truth in text


def _holds_words(text: str, truth: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(truth.strip())}(?!\w)", text) is not None


def open_candidates(answer: str) -> tuple[str | float, ...]:
    """What MMMU compares of a free answer: its key phrases in lower case, and every number, to two decimals.

    The key phrase of a line is the shortest of what follows "could be", "so", "is" and the like, on the last line also
    "="; without any, the whole answer is. MMMU means to split at sentences too, but looks for their capitals in a text
    that is in lower case already.
    """
    lines = answer.strip().strip(".").lower().split("\n")
    phrases = [phrase for line in lines if (phrase := _key_phrase(line, last=line is lines[-1]))] or [
        "\n".join(lines)
    ]
    numbers = [number for phrase in phrases for number in _numbers(phrase)]
    return tuple(dict.fromkeys(form for text in (*phrases, *numbers) for form in _forms(text)))


def _key_phrase(line: str, *, last: bool) -> str | None:
    cues = (*_KEY_WORDS, "=") if last else _KEY_WORDS
    ends = [line.rpartition(cue)[2].strip() for cue in cues if cue in line]
    shortest = min(ends, key=len, default="")
    return None if shortest in {"", ":", ",", ".", "!", "?", ";", "'"} else shortest


def _numbers(text: str) -> Iterator[str]:
    for pattern in (_WITH_COMMAS, _SCIENTIFIC, _PLAIN):
        yield from pattern.findall(text)


def _forms(text: str) -> list[str | float]:
    """A number to two decimals; a text in lower case; a single letter only with a space on one of its sides."""
    text = text.strip()
    if _DECIMAL.fullmatch(text):
        return [round(float(text.replace(",", "")), 2)]
    text = text.lower()
    return [f" {text}", f"{text} "] if len(text) == 1 else [text]
