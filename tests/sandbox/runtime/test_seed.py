"""Chance in a session: the same in every one of a seed, another with another seed."""

from __future__ import annotations

import pytest

from sandbox import Policy, Sandbox

_DRAW = (
    "import random; print(random.random(), np.random.rand(), {'red', 'green', 'blue', 'black'}, hash('x'))"
)


def drawn(policy: Policy, sessions: int) -> list[str]:
    with Sandbox(policy) as sandbox:
        texts = []
        for _ in range(sessions):
            with sandbox.open() as session:
                texts.append(session.run(_DRAW).text)
    assert all(text.count(" ") >= 6 for text in texts), texts
    return texts


@pytest.fixture(scope="module")
def usual_twice() -> list[str]:
    return drawn(Policy(), 2)


@pytest.fixture(scope="module")
def unseeded_twice() -> list[str]:
    return drawn(Policy(seed=None), 2)


def test_sessions_of_a_seed_are_the_same(usual_twice: list[str]) -> None:
    first, second = usual_twice
    assert first == second


def test_a_session_of_the_same_seed_in_another_sandbox_is_the_same(usual_twice: list[str]) -> None:
    assert drawn(Policy(), 1) == usual_twice[:1]


def test_another_seed_draws_otherwise(usual_twice: list[str]) -> None:
    (other,) = drawn(Policy(seed=7), 1)
    usual = usual_twice[0]
    assert usual.split()[:2] != other.split()[:2]
    assert usual.split()[-1] != other.split()[-1]


@pytest.mark.parametrize("part", [0, 1])
def test_without_a_seed_no_session_is_like_another(unseeded_twice: list[str], part: int) -> None:
    first, second = unseeded_twice
    assert first.split()[part] != second.split()[part]
