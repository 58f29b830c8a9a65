"""The attacks in the landlock tier: its own table of results, which is that every one is contained."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Policy, Sandbox
from sandbox.escape_tests import Runner, attacks
from sandbox.escape_tests.attacks import Attack
from sandbox.guest.landlock import landlock_abi

pytestmark = pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")

_POLICY = Policy(isolation="landlock", interrupt_grace_s=0.5, memory_bytes=2**30)
_ESCAPES: frozenset[str] = frozenset()  # what this tier is known not to contain
_QUICK_TOPICS = ("containers", "environment", "files", "leaks", "memory", "network", "processes")
_QUICK = {
    each.id
    for each in attacks()
    if each.topic in _QUICK_TOPICS and (each.proof, each.session, each.timeout_s) == ("cell", "shared", 10)
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Sandbox(_POLICY) as sandbox, Runner(sandbox.open, _POLICY.interrupt_grace_s) as opened:
        yield opened


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(each, id=each.id, marks=() if each.id in _QUICK else pytest.mark.slow)
        for each in attacks()
    ],
)
def test_an_attack_has_its_known_result(runner: Runner, attack: Attack) -> None:
    verdict = runner.run(attack)
    assert verdict.contained == (attack.id not in _ESCAPES), verdict.evidence
