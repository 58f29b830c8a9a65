from __future__ import annotations

from collections.abc import Sequence

import pytest

from pyvision.errors import ModelError
from pyvision.models.offline import Offline
from pyvision.models.scripted import Scripted
from pyvision.models.streams import in_one_piece, stream_of, whole
from pyvision.types import Message, Reply, Restart, Sampling, Text

HELLO = (Message("user", (Text("hello"),)),)


class WholeOnly:
    """A caller's own model, from before there were streams."""

    name = "whole only"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        return Reply("hi")


def test_a_stream_is_its_text_and_then_the_reply() -> None:
    assert list(in_one_piece(Reply("hi"))) == ["hi", Reply("hi")]
    assert list(in_one_piece(Reply("", finish="refusal"))) == [Reply("", finish="refusal")]


def test_the_reply_of_a_stream_is_its_last_piece() -> None:
    assert whole(["a", Restart(), "b", Reply("b")]) == Reply("b")
    with pytest.raises(ModelError, match="without a reply"):
        whole(["a"])


def test_a_model_without_a_stream_has_one_of_one_piece() -> None:
    model: object = WholeOnly()
    assert list(stream_of(model, HELLO, Sampling())) == ["hi", Reply("hi")]  # type: ignore[arg-type]


def test_models_without_an_endpoint_stream_what_they_complete() -> None:
    stop = Sampling(stop=("</code>",))
    cell = "<code>\nprint(1)\n"
    assert list(Scripted([cell + "</code>"]).stream(HELLO, stop)) == [cell, Reply(cell, finish="stop")]
    *_, reply = Offline().stream(HELLO, stop)
    assert reply == Offline().complete(HELLO, stop)
