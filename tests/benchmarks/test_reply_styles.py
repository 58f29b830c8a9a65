"""No decision is lost or changed by the form of a reply: a part of the benchmark, and its verdicts."""

from __future__ import annotations

import pytest

from benchmarks.reply_styles.__main__ import judge, main
from benchmarks.reply_styles.cases import Case
from benchmarks.reply_styles.roles import ROLES, AskedAgainError, Role


@pytest.mark.parametrize("name", ROLES)
def test_each_style_gives_its_decision_to_each_role(name: str) -> None:
    role = ROLES[name]
    verdicts = [(case.reply, *judge(case, role)) for case in role.cases(role.styles)]
    assert [each for each in verdicts if each[1] in ("changed", "lost")] == []


@pytest.mark.parametrize("name", ROLES)
def test_a_role_has_forty_styles(name: str) -> None:
    assert ROLES[name].styles >= 40


@pytest.mark.parametrize(("taken", "kind"), [("7", "found"), ("7.", "changed"), (None, "lost")])
def test_a_decision_is_found_only_if_it_is_the_same(taken: str | None, kind: str) -> None:
    role = Role(1, lambda draw, number: Case("7", "7"), lambda reply: taken)
    assert judge(Case("The answer is 7.", "7"), role) == (kind, taken)


def test_a_role_that_is_asked_again_has_lost_nothing_yet() -> None:
    def take(reply: str) -> str:
        raise AskedAgainError

    assert judge(Case("", "7"), Role(1, lambda draw, number: Case("", "7"), take)) == ("asked again", None)


@pytest.mark.parametrize("name", ["avis: selector", "tool: verify", "vdebugger: critic"])
def test_a_reply_without_a_decision_is_never_found(name: str) -> None:
    kind, _ = judge(Case("Interesting.", "7"), ROLES[name])
    assert kind != "found"


def test_a_benchmark_without_a_loss_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "44", "--role", "direct: solver"]) == 0
    out = capsys.readouterr().out
    assert (
        "direct: solver          44 replies in 42 styles: 44 found, 0 asked again, 0 changed, 0 lost" in out
    )
