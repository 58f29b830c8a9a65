"""Several keys of an endpoint: they take turns, and one that is refused is not used again."""

from __future__ import annotations

from collections import Counter

import pytest

from pyvision.errors import ModelError
from pyvision.models.endpoint import ApiKeys
from pyvision.types import Sampling
from tests.models.test_endpoint import EVERY_WIRE, HELLO
from tests.servers.capabilities import Capabilities
from tests.servers.wires import open_model


def keys_of_four_calls(wire: str) -> list[str | None]:
    """The key of each request of four calls that all succeed, although one of three keys is refused."""
    can = Capabilities(keys=frozenset({"good-one", "good-two"}))
    with open_model(wire, ["x"] * 4, can, api_keys=("good-one", "bad", "good-two")) as (model, server):
        for _ in range(4):
            assert model.complete(HELLO, Sampling()).text == "x"
        return [request.key for request in server.requests]


@EVERY_WIRE
def test_a_refused_key_is_used_only_once(wire: str) -> None:
    assert keys_of_four_calls(wire).count("bad") <= 1


@EVERY_WIRE
def test_every_accepted_key_stays_in_use(wire: str) -> None:
    assert set(keys_of_four_calls(wire)) >= {"good-one", "good-two"}


REFUSED_KEYS = ("first-key-1", "second-key-2")


def refuse_every_key(wire: str) -> tuple[ModelError, set[str | None]]:
    """The error, and the keys that were tried."""
    with open_model(wire, [], Capabilities(keys=frozenset()), api_keys=REFUSED_KEYS) as (model, server):
        with pytest.raises(ModelError, match="401") as caught:
            model.complete(HELLO, Sampling())
        return caught.value, {request.key for request in server.requests}


@EVERY_WIRE
def test_every_key_is_tried_before_a_call_fails(wire: str) -> None:
    _, tried = refuse_every_key(wire)
    assert tried == set(REFUSED_KEYS)


@EVERY_WIRE
def test_a_call_is_not_tried_again_when_every_key_is_refused(wire: str) -> None:
    error, _ = refuse_every_key(wire)
    assert (error.kind, error.retry) == ("auth", False)


@EVERY_WIRE
def test_the_error_about_refused_keys_does_not_contain_the_keys(wire: str) -> None:
    error, _ = refuse_every_key(wire)
    assert not any(key in str(error) for key in REFUSED_KEYS)


def test_keys_take_turns() -> None:
    keys = ApiKeys(["a", "b", "c"])
    assert Counter(keys.next() for _ in range(9)) == {"a": 3, "b": 3, "c": 3}


def test_a_refused_key_is_reject_while_others_work() -> None:
    keys = ApiKeys(["a", "b"])
    assert keys.reject("a")
    assert {keys.next() for _ in range(4)} == {"b"}


def test_when_no_key_works_all_are_tried_again() -> None:
    keys = ApiKeys(["a", "b"])
    assert [keys.reject("a"), keys.reject("a"), keys.reject("b")] == [True, True, False]
    assert {keys.next() for _ in range(4)} == {"a", "b"}


def test_an_endpoint_without_keys_has_no_key() -> None:
    keys = ApiKeys([])
    assert keys.next() is None
    assert not keys.reject(None)
