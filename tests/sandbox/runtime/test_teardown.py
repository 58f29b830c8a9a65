"""Whichever process dies first, nothing of a container outlives its host: `benchmarks/teardown.py` tries it often."""

from __future__ import annotations

from typing import get_args

import pytest

from benchmarks.teardown import Victim, survivors_of
from sandbox.guest.landlock import landlock_abi

_QUICK = ("host", "zygote and host")
_PATIENCE_S = 60  # for a busy machine; the benchmark measures how long it takes


@pytest.mark.parametrize(
    "victim",
    [pytest.param(victim, marks=() if victim in _QUICK else pytest.mark.slow) for victim in get_args(Victim)],
)
def test_nothing_survives(victim: Victim) -> None:
    assert survivors_of(victim, 0.2, within_s=_PATIENCE_S) == []


@pytest.mark.slow
@pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")
@pytest.mark.parametrize("victim", [each for each in get_args(Victim) if not each.startswith("bubblewrap")])
def test_nothing_survives_in_the_landlock_tier(victim: Victim) -> None:
    assert survivors_of(victim, 0.2, "landlock", _PATIENCE_S) == []
