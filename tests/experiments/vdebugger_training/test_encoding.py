"""Which tokens of an example the loss counts, and what is truncated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.packing import (
    TRACE,
    UNCOUNTED,
    TokenBudget,
    encode,
    encode_prompt,
)
from pyvision.experiments.vdebugger_training.records import TrainingExample

BOS, EOS = 1, 2


class Letters:
    """A tokenizer with one token per character."""

    bos_token_id: int | None = BOS
    eos_token_id: int | None = EOS

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [ord(letter) for letter in text]


class WithoutEnd(Letters):
    eos_token_id = None


def decode(tokens: object) -> str:
    return "".join(chr(token) for token in tokens if token > EOS)  # type: ignore[attr-defined]


def test_the_loss_counts_everything_after_the_prompt() -> None:
    found = encode(TrainingExample("prompt", "!", "yes"), Letters(), TokenBudget(40, 10))
    assert found.tokens == (BOS, *map(ord, "prompt!yes"), EOS)
    assert found.labels == (*[UNCOUNTED] * 7, *map(ord, "!yes"), EOS)


def test_an_open_completion_has_no_end() -> None:
    assert encode(TrainingExample("p", "!", "no", eos=False), Letters(), TokenBudget(40, 10)).tokens[
        -1
    ] == ord("o")


def test_the_end_of_a_long_trace_is_kept() -> None:
    tokens = encode_prompt(f"head{TRACE}0123456789", "!", Letters(), TokenBudget(len(TRACE) + 21, 10))
    assert decode(tokens) == f"head{TRACE}5678" + "9!" or decode(tokens) == f"head{TRACE}56789!"


def test_the_truncation_of_the_paper_keeps_the_start() -> None:
    tokens = encode_prompt(
        f"head{TRACE}0123456789", "!", Letters(), TokenBudget(len(TRACE) + 21, 10, "start")
    )
    assert decode(tokens) == f"head{TRACE}01234!"


def test_a_long_head_is_truncated_at_its_end() -> None:
    assert decode(encode_prompt("abcdefgh" + TRACE + "x", "!", Letters(), TokenBudget(15, 10))) == "abc!"


def test_no_room_for_a_prompt_is_an_error() -> None:
    with pytest.raises(ConfigError, match="leave no room"):
        encode_prompt("p", "!", Letters(), TokenBudget(12, 10))


def test_a_tokenizer_without_an_end_cannot_finish_a_completion() -> None:
    with pytest.raises(ConfigError, match="no end-of-text"):
        encode(TrainingExample("p", "!", "yes"), WithoutEnd(), TokenBudget())


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30), st.integers(20, 80))
def test_an_example_never_exceeds_its_token_budget(
    head: str, trace: str, completion: str, tokens: int
) -> None:
    found = encode(
        TrainingExample(head + TRACE + trace, "!!", completion), Letters(), TokenBudget(tokens, 10)
    )
    assert len(found.tokens) == len(found.labels) <= tokens
    assert all(label in (UNCOUNTED, token) for token, label in zip(found.tokens, found.labels, strict=True))
    assert found.labels[0] == UNCOUNTED
