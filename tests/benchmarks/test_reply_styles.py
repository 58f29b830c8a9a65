"""No answer is lost or changed by the form of a reply: a part of the benchmark, and its verdicts."""

from __future__ import annotations

import pytest

from benchmarks.reply_styles import ROLES, STYLES, Case, judge, main


@pytest.mark.parametrize("role", ROLES)
def test_each_style_gives_its_answer_to_each_role(role: str) -> None:
    cases, read = ROLES[role]
    spoiled = [
        (case.reply, read(case.reply)) for case in cases(3 * len(STYLES)) if read(case.reply) != case.answer
    ]
    assert spoiled == []


@pytest.mark.parametrize(("found", "verdict"), [("7", "found"), ("7.", "changed"), (None, "not found")])
def test_an_answer_is_found_only_if_it_is_the_same(found: str | None, verdict: str) -> None:
    assert judge(Case("The answer is 7.", "7"), found) == verdict


def test_a_benchmark_without_a_loss_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "44"]) == 0
    assert "solver      44 replies in 42 styles: 44 found, 0 changed, 0 not found" in capsys.readouterr().out
