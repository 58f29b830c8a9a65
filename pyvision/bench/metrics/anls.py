r"""ANLS, the metric of DocVQA: how similar the answer is to the nearest of the accepted texts, from 0.5 up.

`target`: a text or a list of accepted texts. The similarity is 1 minus the edit distance over the length of the longer
text; below 0.5 it counts as 0. Both flavours ignore case and see the content of a \boxed{} when there is one.

* official: the evaluator of the benchmark's authors (rubenpt91/MP-DocVQA-Framework, `metrics.py`): white space is
  removed at both ends; the answer "none" is 0.
* vlmevalkit, lmms-eval: white space inside counts once for the distance, but as it stands for the length.

A text of more than 2,000 characters is compared by its first 2,000: no answer of a document is that long.
"""

from __future__ import annotations

from collections.abc import Callable

from pyvision.bench.metrics.mathvista import edit_distance
from pyvision.bench.metrics.registry import Metric, score_equality, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score

THRESHOLD = 0.5
_LONGEST = 2_000


def similarity(answer: str, truth: str) -> float:
    """1 minus the edit distance over the length of the longer text, ignoring case and space at both ends."""
    answer, truth = answer.lower().strip()[:_LONGEST], truth.lower().strip()[:_LONGEST]
    longer = max(len(answer), len(truth))
    return 1 - edit_distance(answer, truth) / longer if longer and answer != "none" else 0.0


def similarity_vlmevalkit(answer: str, truth: str) -> float:
    """The same with surplus white space left out of the distance, but not of the length."""
    answer, truth = answer[:_LONGEST], truth[:_LONGEST]
    distance = edit_distance(*(" ".join(text.lower().split()) for text in (answer, truth)))
    return 1 - distance / max(len(answer), len(truth), 1)


def anls_metric(similar: Callable[[str, str], float]) -> Metric:
    """A metric that gives the similarity to the nearest accepted text, where it is at least the threshold."""

    def score(answer: str, sample: Sample) -> Score:
        text, truths = unwrap_box(answer), target_texts(sample)
        if not text.strip():
            return score_equality(None, "", right=False)
        best = max(similar(text, truth) for truth in truths)
        return Score(
            best if best >= THRESHOLD else 0.0, f"similarity {best:.3f} to {' or '.join(truths)}", text
        )

    return score


official = anls_metric(similarity)
vlmevalkit = anls_metric(similarity_vlmevalkit)
