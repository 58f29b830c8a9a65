"""Every attack gets nowhere in a room; where it should, it succeeds against plain Jupyter."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from sandbox import Policy, Sandbox
from sandbox.check import Attack, Runner, attacks
from sandbox.check.canaries import Canaries
from sandbox.check.command import Rooms
from tests.sandbox.attacks.plain import PlainSession

_GRACE_S = 0.5
_ALL = attacks()
_SLIPS = (
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "ModuleNotFoundError",
    "NameError",
    "TypeError",
)
_QUICK = [
    each
    for each in _ALL
    if (each.proof, each.session, each.sessions, each.timeout_s) == ("cell", "shared", 1, 10)
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Rooms(_GRACE_S) as rooms, Runner(rooms.open_session, _GRACE_S) as opened:
        yield opened


@pytest.fixture(scope="module")
def has_groups() -> bool:
    with Sandbox() as sandbox:
        return any(layer.name == "control groups" and layer.is_present for layer in sandbox.layers())


@pytest.fixture(scope="module")
def plain() -> Iterator[Runner]:
    with Runner(PlainSession, _GRACE_S) as opened:
        yield opened


@pytest.mark.parametrize("attack", _ALL, ids=lambda attack: attack.id)
def test_an_attack_is_contained(runner: Runner, has_groups: bool, attack: Attack) -> None:
    if attack.layer == "groups" and not has_groups:
        pytest.skip("this machine has no control groups for this user, as `sandbox check` says")
    verdict = runner.run(attack)
    assert verdict.contained, verdict.evidence
    assert verdict.raised not in _SLIPS, f"not contained, but broken: {verdict.evidence}"


@pytest.mark.parametrize(
    "attack", [each for each in _ALL if each.plain != "skipped"], ids=lambda attack: attack.id
)
def test_it_does_to_plain_jupyter_what_it_says(plain: Runner, attack: Attack) -> None:
    if attack.plain == "succeeds as root" and os.getuid() != 0:
        pytest.skip("it needs root")
    verdict = plain.run(attack)
    if attack.plain == "depends" and verdict.contained:
        pytest.skip(f"it depends {attack.why}")
    assert verdict.contained == (attack.plain == "fails"), verdict.evidence


def test_there_are_enough_of_them_and_each_says_what_it_tries() -> None:
    assert len(_ALL) >= 80
    assert len({attack.tries for attack in _ALL}) == len(_ALL)
    assert {attack.topic for attack in _ALL} >= {
        "files",
        "network",
        "processes",
        "exhaustion",
        "kernel",
        "leaks",
    }


def test_those_that_no_plain_kernel_is_asked_to_stand_say_why() -> None:
    assert all(attack.why for attack in _ALL if attack.plain in ("skipped", "depends"))


def test_twenty_sessions_contain_them_at_once() -> None:
    with ExitStack() as stack:
        canaries = stack.enter_context(Canaries())
        sandbox = stack.enter_context(Sandbox(Policy(cell_timeout_s=20)))
        sessions = [stack.enter_context(sandbox.open()) for _ in range(20)]
        marker = secrets.token_hex(16)
        start = f"TARGET = {canaries.target!r}; MARKER = {marker!r}\n"

        def attacked(number: int) -> tuple[str, str]:
            session = sessions[number]
            session.run(f"mine = {number}")
            said = "".join(session.run(start + attack.code).text for attack in _QUICK[number::20])
            return said, session.run("print(mine)").text

        with ThreadPoolExecutor(20) as threads:
            results = list(threads.map(attacked, range(20)))
        assert not [said for said, _ in results if marker in said.splitlines()]
        assert [told for _, told in results] == [f"{number}\n" for number in range(20)]
        assert canaries.harm(marker) is None
