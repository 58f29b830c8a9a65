from __future__ import annotations

from pyvision.models.stops import cut_at_stop
from pyvision.types import Reply, Usage


def test_the_first_stop_string_in_the_text_ends_it() -> None:
    assert cut_at_stop(Reply("a END b STOP", Usage(1, 1)), ("STOP", "END")) == Reply(
        "a ", Usage(1, 1), "stop"
    )


def test_a_reply_without_a_stop_string_stays_as_it_is() -> None:
    reply = Reply("a", finish="length")
    assert cut_at_stop(reply, ("STOP", "")) is reply
