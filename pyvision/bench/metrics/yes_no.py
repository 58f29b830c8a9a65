r"""Yes and no, true and false: the metric of NLVR2 and of yes-no questions.

`target`: yes, no, true or false as a text, or a bool.

Flavours
* words: the first word, when it is one of the four; else the one of what follows "the answer is"; else the only one of
  both that is said at all. NLVR2's own metrics (nlvr2/eval/metrics.py) compare labels, which prose is not.
* paper: VDebugger's code: the whole answer through VQA's normalisation, true and false read as yes and no.
"""

from __future__ import annotations

import re

from pyvision.bench.metrics.finals import final_part, unwrap_box
from pyvision.bench.metrics.scoring import score_equality, unusable
from pyvision.bench.metrics.text import as_vdebugger
from pyvision.bench.samples import Sample, Score

_WORD = re.compile(r"\b(yes|true|no|false)\b", re.IGNORECASE)
_MEANING = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def find_yes_no(answer: str) -> str | None:
    """`yes` or `no` as the answer means it, or None where it says neither or both."""
    text = final_part(answer)
    if first := _WORD.match(text):
        return _MEANING[first[1].lower()]
    said = {_MEANING[word.lower()] for word in _WORD.findall(text)}
    return said.pop() if len(said) == 1 else None


def truth_of(sample: Sample) -> str:
    """The target as yes or no. Raises ConfigError."""
    meaning = _MEANING.get(str(sample.target).strip().lower())
    if meaning is None:
        raise unusable(sample, "yes, no, true or false")
    return meaning


def words(answer: str, sample: Sample) -> Score:
    """Yes or no found in prose."""
    found, truth = find_yes_no(answer), truth_of(sample)
    return score_equality(found, truth, right=found == truth, what="yes or no")


def paper(answer: str, sample: Sample) -> Score:
    """VDebugger's: the whole answer must be the word."""
    text, truth = as_vdebugger(unwrap_box(answer)), truth_of(sample)
    return score_equality(text or None, truth, right=text == truth, what="yes or no")
