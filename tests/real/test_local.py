"""The tiny model in this process: `--model local:FOLDER` answers from the figure, as over a server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.factory import build
from pyvision.types import Message, Sampling, Text
from tests.real.conversation import CELL, COLOURS, QUESTION
from tests.real.test_transformers import check, converse

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
ASKED = (Message("user", (Text(QUESTION),)),)


@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure(colour: str, tiny_model: Path, tmp_path: Path) -> None:
    check(converse(tmp_path, colour, ModelConfig("local", str(tiny_model), max_tokens=200)), colour)


def test_its_tokens_are_those_of_its_text(tiny_model: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    with closing(build(ModelConfig("local", str(tiny_model), max_tokens=200))) as model:
        reply = model.complete(ASKED, Sampling())
    assert tokenizer.decode(reply.token_ids, skip_special_tokens=True) == reply.text
    assert reply.usage.output_tokens == len(reply.token_ids)
    assert QUESTION in tokenizer.decode(reply.prompt_ids)


def test_a_stop_string_ends_it_before_its_own_end(tiny_model: Path) -> None:
    with closing(build(ModelConfig("local", str(tiny_model), max_tokens=200))) as model:
        whole = model.complete(ASKED, Sampling())
        word = whole.text.split()[1]
        cut = model.complete(ASKED, Sampling(stop=(word,)))
    assert (cut.finish, cut.text) == ("stop", whole.text.partition(word)[0])
    assert len(cut.token_ids) < len(whole.token_ids)


def test_a_token_limit_cuts_it(tiny_model: Path) -> None:
    with closing(build(ModelConfig("local", str(tiny_model), max_tokens=3))) as model:
        reply = model.complete(ASKED, Sampling())
    assert (reply.finish, len(reply.token_ids)) == ("length", 3)


def test_a_context_that_is_too_long_is_its_own_kind_of_error(tiny_model: Path) -> None:
    long = (Message("user", (Text(CELL * 400),)),)
    with (
        closing(build(ModelConfig("local", str(tiny_model)))) as model,
        pytest.raises(ModelError, match="more than its context of 8192") as caught,
    ):
        model.complete(long, Sampling())
    assert caught.value.kind == "context"
