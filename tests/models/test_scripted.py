from __future__ import annotations

import pytest

from pyvision.errors import ModelError
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Reply, Sampling, Text, Usage

HELLO = (Message("user", (Text("hello"),)),)
AGAIN = (*HELLO, Message("user", (Text("again"),)))


SECOND = Reply("two", Usage(1, 2), "length")


def test_scripted_replies_come_in_turn() -> None:
    model = Scripted(["one", SECOND])
    assert model.complete(HELLO, Sampling()) == Reply("one")
    assert model.complete(AGAIN, Sampling(max_tokens=3)) == SECOND


def test_a_scripted_model_keeps_its_requests() -> None:
    model = Scripted(["one", SECOND])
    model.complete(HELLO, Sampling())
    model.complete(AGAIN, Sampling(max_tokens=3))
    assert model.requests == [HELLO, AGAIN]
    assert model.samplings == [Sampling(), Sampling(max_tokens=3)]


def test_an_exception_in_the_script_is_raised() -> None:
    with pytest.raises(ModelError, match="down"):
        Scripted([ModelError("down")]).complete(HELLO, Sampling())


def test_a_script_that_is_used_up_is_a_model_error() -> None:
    model = Scripted(["one"], name="puppet")
    model.complete(HELLO, Sampling())
    with pytest.raises(ModelError, match="puppet: the script of 1 replies is used up") as caught:
        model.complete(HELLO, Sampling())
    assert caught.value.retry is False


def test_a_text_ends_at_a_stop_string_as_an_endpoint_would_end_it() -> None:
    reply = Scripted(["a</code>b"]).complete(HELLO, Sampling(stop=("</code>",)))
    assert reply == Reply("a", finish="stop")
