"""The processors for transformers and vLLM follow the algorithm, with a count per sequence."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.mask_best import (
    MaskBest,
    MaskBestProcessor,
    MaskBestRequest,
    request_processor,
    step,
    vllm_processor,
)

pytestmark = pytest.mark.train


def logits(*rows: list[float]) -> Any:
    import torch

    return torch.tensor([[math.log(p) if p else -math.inf for p in row] for row in rows])


def ids(length: int, rows: int = 1) -> Any:
    import torch

    return torch.zeros(rows, length, dtype=torch.long)


def test_each_sequence_of_a_batch_has_its_own_count() -> None:
    process = MaskBestProcessor(MaskBest(times=1))
    unsure, sure = [0.5, 0.3, 0.2], [0.98, 0.01, 0.01]
    first = process(ids(4, 2), logits(unsure, sure))
    second = process(ids(5, 2), logits(unsure, unsure))
    assert first.isinf().tolist() == [[True, False, False], [False, False, False]]
    assert second.isinf().tolist() == [[False, False, False], [True, False, False]]


def test_a_new_batch_starts_with_a_new_count() -> None:
    process = MaskBestProcessor(MaskBest(times=1))
    assert process(ids(9), logits([0.5, 0.5])).isinf().any()
    assert not process(ids(10), logits([0.5, 0.5])).isinf().any()
    assert process(ids(3), logits([0.5, 0.5])).isinf().any()


def test_a_vllm_request_has_the_same_count() -> None:
    process = MaskBestRequest(MaskBest(times=2))
    steps = [process([], logits([0.5, 0.3, 0.2])[0]).isinf().tolist() for _ in range(3)]
    assert steps == [[True, False, False], [True, False, False], [False, False, False]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 1000), min_size=4, max_size=4, unique=True), min_size=1, max_size=5))
def test_the_processors_agree_with_the_algorithm(texts: list[list[int]]) -> None:
    rule, done = MaskBest(threshold=0.5, times=2), 0
    process, request = MaskBestProcessor(rule), MaskBestRequest(rule)
    for length, weights in enumerate(texts, start=1):
        probabilities = [weight / sum(weights) for weight in weights]
        expected, done = step(probabilities, done, rule)
        batch = process(ids(length), logits(probabilities)).softmax(-1)[0]
        single = request([], logits(probabilities)[0]).softmax(-1)
        assert batch.tolist() == pytest.approx(list(expected), abs=1e-5)
        assert single.tolist() == pytest.approx(list(expected), abs=1e-5)


def test_only_a_request_that_enables_it_is_processed() -> None:
    assert request_processor(None) is None
    assert request_processor({"other": 1}) is None
    assert isinstance(request_processor({"mask_best": {"times": 1}}), MaskBestRequest)


@pytest.mark.parametrize("setting", [3, {"rate": 1}, {"threshold": 7}])
def test_a_request_with_an_invalid_rule_is_refused(setting: object) -> None:
    with pytest.raises(ConfigError, match=r"mask.best"):
        request_processor({"mask_best": setting})


def test_without_vllm_its_processor_names_the_missing_package() -> None:
    pytest.importorskip("torch")
    try:
        import vllm  # noqa: F401
    except ImportError:
        with pytest.raises(ConfigError, match="needs vLLM"):
            vllm_processor()
    else:
        assert vllm_processor().__name__ == "MaskBestLogitsProcessor"
