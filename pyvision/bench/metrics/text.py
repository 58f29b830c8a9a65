r"""One text against another: exact match, and the one-word answers of GQA and COVR.

Every flavour sees the content of a \boxed{} when there is one, never a word out of a sentence.

* exact: the texts are equal, white space around them aside.
* plain: case, surplus white space and a closing full stop aside: for questions of one's own.
* gqa: vlmevalkit (white space and case aside); lmms-eval (punctuation as well); paper (ViperGPT and VDebugger: the
  answer goes through VQA's normalisation, the truth does not, so a truth with an article or a capital is never met).
* covr: paper: the same, with true and false read as yes and no on both sides.
"""

from __future__ import annotations

import string
from collections.abc import Callable

from pyvision.bench.metrics.finals import unwrap_box
from pyvision.bench.metrics.scoring import Metric, accepted_texts, score_equality
from pyvision.bench.metrics.vqa import normalise
from pyvision.bench.samples import Sample, Score

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TRUTH_VALUES = {"true": "yes", "false": "no"}


def text_metric(of_answer: Callable[[str], str], of_truth: Callable[[str], str]) -> Metric:
    """A metric that gives 1 when the prepared answer equals one of the prepared truths."""

    def score(answer: str, sample: Sample) -> Score:
        text = of_answer(unwrap_box(answer))
        truths = [of_truth(truth) for truth in accepted_texts(sample)]
        return score_equality(text or None, " or ".join(truths), right=text in truths)

    return score


def as_vdebugger(answer: str) -> str:
    """The answer as VDebugger's code prepares it for GQA, NLVR and COVR."""
    return normalise(yes_or_no(answer.strip().lower()))


def yes_or_no(text: str) -> str:
    """`true` and `false` as yes and no, any other text as it is."""
    return _TRUTH_VALUES.get(text.lower(), text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!").rstrip()


def _lower(text: str) -> str:
    return text.strip().lower()


def _bare(text: str) -> str:
    return text.translate(_NO_PUNCTUATION).strip().lower()


def _as_it_is(text: str) -> str:
    return text


exact = text_metric(str.strip, str.strip)
plain = text_metric(_plain, _plain)
gqa_vlmevalkit = text_metric(_lower, _lower)
gqa_lmms_eval = text_metric(_bare, _bare)
gqa_paper = text_metric(as_vdebugger, _as_it_is)
covr_paper = text_metric(as_vdebugger, yes_or_no)
