r"""One text against another: exact match, the one-word answers of GQA and COVR, and yes or no (NLVR2).

`target`: a text or a list of accepted texts; for yes or no: yes, no, true or false as a text, or a bool.
Every flavour sees the content of a \boxed{} when there is one. Only `words` finds a word inside a sentence.

* exact: the texts are equal, apart from white space around them.
* plain: apart from case, surplus white space and a closing full stop too: for questions of your own.
* gqa: vlmevalkit (apart from white space and case); lmms-eval (punctuation as well); paper (ViperGPT and VDebugger: the
  answer goes through VQA's normalisation, the truth does not, so a truth with an article or a capital is never met).
* covr: paper: the same, with true and false read as yes and no on both sides.
* yes_no, nlvr: words: the first word, when it is one of the four; else the one of what follows "the answer is"; else
  the only one of both that occurs at all, outside of clauses that decline to answer; "no" before a noun is none.
  NLVR2's own metrics (nlvr2/eval/metrics.py) compare labels, which prose is not. paper: VDebugger's code: the whole
  answer through VQA's normalisation, true and false read as yes and no.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from pyvision.bench.metrics.registry import (
    Metric,
    final_part,
    score_equality,
    target_error,
    target_texts,
    unwrap_box,
)
from pyvision.bench.metrics.vqa import normalise
from pyvision.bench.samples import Sample, Score
from pyvision.text.refusals import clauses_of

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TRUTH_VALUES = {"true": "yes", "false": "no"}
_WORD = re.compile(  # not "no" before a noun, as in "no image"
    r"""(?<!\bnot\s)\b(?:(yes|true|false|no(?=\s*(?:$|[^\w\s]|\n|(?:because|since|as|it|they|there|these|those|this|that|the
    |neither|both|he|she|we|not)\b))))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MEANING = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def text_metric(of_answer: Callable[[str], str], of_truth: Callable[[str], str]) -> Metric:
    """A metric that gives 1 when the prepared answer equals one of the prepared truths."""

    def score(answer: str, sample: Sample) -> Score:
        text = of_answer(unwrap_box(answer))
        truths = [of_truth(truth) for truth in target_texts(sample)]
        return score_equality(text or None, " or ".join(truths), right=text in truths)

    return score


def yes_no(answer: str, sample: Sample) -> Score:
    """Yes or no found in prose."""
    found, truth = find_yes_no(answer), truth_of(sample)
    return score_equality(found, truth, right=found == truth, what="yes or no")


def yes_no_paper(answer: str, sample: Sample) -> Score:
    """VDebugger's: the whole answer must be the word."""
    text, truth = _prepare_as_vdebugger(unwrap_box(answer)), truth_of(sample)
    return score_equality(text or None, truth, right=text == truth, what="yes or no")


def find_yes_no(answer: str) -> str | None:
    """`yes` or `no` as the answer means it, or None where it says neither or both."""
    text = final_part(answer)
    clauses = clauses_of(text)
    if first := _WORD.match(text):
        meaning = _MEANING[first[1].lower()]
        return None if meaning == "no" and not (clauses and text.startswith(clauses[0])) else meaning
    found = {_MEANING[word.lower()] for clause in clauses for word in _WORD.findall(clause)}
    return found.pop() if len(found) == 1 else None


def truth_of(sample: Sample) -> str:
    """The target as yes or no. Raises ConfigError."""
    meaning = _MEANING.get(str(sample.target).strip().lower())
    if meaning is None:
        raise target_error(sample, "yes, no, true or false")
    return meaning


def _prepare_as_vdebugger(answer: str) -> str:
    """The answer as VDebugger's code prepares it for GQA, NLVR and COVR."""
    return normalise(_to_yes_or_no(answer.strip().lower()))


def _to_yes_or_no(text: str) -> str:
    """`true` and `false` as yes and no, any other text unchanged."""
    return _TRUTH_VALUES.get(text.lower(), text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!").rstrip()


def _lower(text: str) -> str:
    return text.strip().lower()


def _bare(text: str) -> str:
    return text.translate(_NO_PUNCTUATION).strip().lower()


def _identity(text: str) -> str:
    return text


exact = text_metric(str.strip, str.strip)
plain = text_metric(_plain, _plain)
gqa_vlmevalkit = text_metric(_lower, _lower)
gqa_lmms_eval = text_metric(_bare, _bare)
gqa_paper = text_metric(_prepare_as_vdebugger, _identity)
covr_paper = text_metric(_prepare_as_vdebugger, _to_yes_or_no)
