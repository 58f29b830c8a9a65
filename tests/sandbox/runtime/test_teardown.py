"""Whichever process dies first, nothing of a container outlives its host: `benchmarks/teardown.py` tries it often."""

from __future__ import annotations

from typing import get_args

import pytest

from benchmarks.teardown import Victim, survivors_of

_QUICK = ("host", "zygote and host")


@pytest.mark.parametrize(
    "victim",
    [pytest.param(victim, marks=() if victim in _QUICK else pytest.mark.slow) for victim in get_args(Victim)],
)
def test_nothing_survives(victim: Victim) -> None:
    assert survivors_of(victim, 0.2) == []
