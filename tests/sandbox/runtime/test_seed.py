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


def test_sessions_of_a_seed_are_alike_also_in_another_sandbox() -> None:
    first, second, other = *drawn(Policy(), 2), *drawn(Policy(), 1)
    assert first == second == other


def test_another_seed_draws_otherwise() -> None:
    (usual,), (other,) = drawn(Policy(), 1), drawn(Policy(seed=7), 1)
    assert usual.split()[:2] != other.split()[:2]
    assert usual.split()[-1] != other.split()[-1]


@pytest.mark.parametrize("part", [0, 1])
def test_without_a_seed_no_session_is_like_another(part: int) -> None:
    first, second = drawn(Policy(seed=None), 2)
    assert first.split()[part] != second.split()[part]
