from __future__ import annotations

import time

import pytest

from pyvision.agent.budget import Budget, Limits
from pyvision.agent.context import PackedRequest
from pyvision.config.prices import Price
from pyvision.errors import LimitReached
from pyvision.events import Sent
from pyvision.types import Usage


def request(*pictures: str, size_bytes: int = 100) -> PackedRequest:
    return PackedRequest((), tuple(Sent(None, picture, 10, 10) for picture in pictures), size_bytes)


def spent(limits: Limits, tokens: int = 12, price: Price | None = None) -> Budget:
    """A budget after one request with one picture, and its reply."""
    budget = Budget(limits)
    budget.send(request("a"))
    budget.receive(Usage(tokens - 2, 2), price)
    return budget


@pytest.mark.parametrize(
    ("limits", "reason", "flag"),
    [
        (Limits(max_turns=1), "turn_limit", "--max-turns"),
        (Limits(max_tokens=12), "token_limit", "--max-tokens"),
        (Limits(max_cost=0.012), "cost_limit", "--max-cost"),
    ],
)
def test_the_error_about_a_spent_budget_names_the_flag_that_allows_more(
    limits: Limits, reason: str, flag: str
) -> None:
    budget = spent(limits, price=Price(1000.0, 1000.0))
    with pytest.raises(LimitReached, match=flag) as caught:
        budget.check()
    assert caught.value.end_reason == reason
    assert budget.nearly_spent() == reason


def test_spent_time_is_an_error() -> None:
    budget = Budget(Limits(max_seconds=0.01))
    time.sleep(0.02)
    with pytest.raises(LimitReached) as caught:
        budget.check_time()
    assert caught.value.end_reason == "time_limit"


@pytest.mark.parametrize(
    ("limits", "more", "reason"),
    [
        (Limits(max_pictures=2), request("b", "c"), "picture_limit"),
        (Limits(max_bytes=250), request("a", size_bytes=151), "byte_limit"),
    ],
)
def test_a_request_beyond_a_limit_is_refused_before_it_is_sent(
    limits: Limits, more: PackedRequest, reason: str
) -> None:
    budget = spent(limits)
    with pytest.raises(LimitReached, match="--max-") as caught:
        budget.send(more)
    assert caught.value.end_reason == reason
    budget.send(request("a", "b", size_bytes=150))


def test_an_image_that_is_sent_again_counts_once() -> None:
    budget = spent(Limits(max_pictures=1))
    budget.send(request("a"))
    assert budget.nearly_spent() == "picture_limit"


def test_a_request_after_the_next_that_would_not_go_out_makes_the_next_the_last() -> None:
    assert spent(Limits(max_bytes=300)).nearly_spent() is None
    assert spent(Limits(max_bytes=299)).nearly_spent() == "byte_limit"


def test_without_a_price_nothing_is_known_of_the_cost() -> None:
    assert spent(Limits()).cost is None


def test_no_limit_is_no_limit() -> None:
    budget = spent(Limits(max_turns=10**6, max_tokens=None, max_seconds=None), 10**9)
    budget.check()
    assert (budget.nearly_spent(), budget.check()) == (None, None)
