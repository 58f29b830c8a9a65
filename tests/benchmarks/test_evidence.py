from __future__ import annotations

import pytest

from benchmarks.evidence import boxes_of, make_oracle, measure
from pyvision.bench.synthetic.registry import generate


def test_the_oracle_looks_at_every_object_that_is_counted() -> None:
    sample = next(iter(generate("clutter", 1, 0, 0.3)))
    assert len(boxes_of(sample)) == sample.target


def test_the_oracle_expects_what_its_sample_shows() -> None:
    sample = next(iter(generate("boxes", 1, 0, 0.3)))
    oracle = make_oracle(sample)
    assert [box for box, _ in oracle.places] == boxes_of(sample)


@pytest.mark.slow  # real kernels
def test_masking_the_evidence_alone_turns_answers() -> None:
    measured = measure(["boxes", "clutter"], samples=3, seed=0)
    assert (measured["right"], measured["flipped"], measured["disturbed"]) == (6, 1.0, 0.0)
