from __future__ import annotations

from collections import Counter

from pyvision.models.api_keys import Keys


def test_keys_take_turns() -> None:
    keys = Keys(["a", "b", "c"])
    assert Counter(keys.next() for _ in range(9)) == {"a": 3, "b": 3, "c": 3}


def test_a_refused_key_is_set_aside_while_others_work() -> None:
    keys = Keys(["a", "b"])
    assert keys.set_aside("a")
    assert {keys.next() for _ in range(4)} == {"b"}


def test_when_no_key_works_all_are_tried_anew() -> None:
    keys = Keys(["a", "b"])
    assert [keys.set_aside("a"), keys.set_aside("a"), keys.set_aside("b")] == [True, True, False]
    assert {keys.next() for _ in range(4)} == {"a", "b"}


def test_no_key_is_none() -> None:
    keys = Keys([])
    assert keys.next() is None
    assert not keys.set_aside(None)
