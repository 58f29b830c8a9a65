"""Whichever process dies first, nothing of a container outlives its host: `benchmarks/teardown.py` tries it often."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.teardown import Victim, survivors_of
from sandbox import Policy
from sandbox.guest.landlock import landlock_abi
from sandbox.isolation.tiers import find_confinement
from sandbox.runtime.zygote import Zygote

_PATIENCE_S = 60  # for a busy machine; the benchmark measures how long it takes


@pytest.mark.parametrize(
    "victim",
    [
        pytest.param(victim, marks=() if victim == "zygote and host" else pytest.mark.slow)
        for victim in get_args(Victim)
    ],
)
def test_nothing_survives(victim: Victim) -> None:
    assert survivors_of(victim, 0.2, within_s=_PATIENCE_S) == []


@pytest.mark.slow
@pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")
@pytest.mark.parametrize("victim", [each for each in get_args(Victim) if not each.startswith("bubblewrap")])
def test_nothing_survives_in_the_landlock_tier(victim: Victim) -> None:
    assert survivors_of(victim, 0.2, "landlock", _PATIENCE_S) == []


def test_the_reaper_watches_a_zygote_from_its_start(tmp_path: Path) -> None:
    watched: list[int] = []
    zygote = Zygote(find_confinement(Policy(isolation="none")), tmp_path, os.getuid(), watched.append)
    zygote.close()
    assert watched == [zygote._process.pid]
