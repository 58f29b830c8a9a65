"""The benchmark that counts lost questions: it finds them, and finds none where there are none."""

from __future__ import annotations

import pytest

from benchmarks.endpoint_faults import Result, is_lost, main, table


def test_a_few_questions_survive_a_few_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--questions", "2", "--rate", "0.2", "--seed", "5", "--at-once", "2"]) == 0
    assert "2 answers are right, 0 questions are lost" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("result", "lost"),
    [
        (Result("answered", right=True, has_events=True, seconds=1), False),
        (Result("model_error", right=False, has_events=True, seconds=1), False),
        (Result("answered", right=True, has_events=False, seconds=1), True),
        (Result("ZeroDivisionError", right=False, has_events=True, seconds=1), True),
    ],
)
def test_a_question_is_lost_without_a_reason_or_an_end(
    result: Result,
    lost: bool,
) -> None:
    assert is_lost(result) == lost


def test_the_table_counts_what_happened() -> None:
    results = [Result("answered", right=True, has_events=True, seconds=2.0)] * 3
    results.append(Result("model_error", right=False, has_events=True, seconds=9.0))
    text = table(results, requests=10, fallen=3, seconds=30)
    assert "answered                      3    75.0%" in text
    assert "3 answers are right, 0 questions are lost" in text
    assert "10 requests, of which 3 failed (30.0%); 2.50 for each question" in text
