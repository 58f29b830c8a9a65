"""The measures of critic, refiner and task on known rounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.statistics import Estimate
from pyvision.experiments.vdebugger_training.evaluation import Debugged, Round, measure, score_after, table


def question(*rounds: tuple[float, bool | None]) -> Debugged:
    return Debugged("q", tuple(Round(*each) for each in rounds))


FIXED = question((0.0, False), (1.0, True))
MISSED = question((0.0, True))
HARMED = question((1.0, False), (0.0, False), (0.0, None))
ACCEPTED = question((1.0, True))
ALL = (FIXED, MISSED, HARMED, ACCEPTED)


def value(estimate: Estimate | None) -> tuple[float, int] | None:
    return (estimate.value, estimate.n) if estimate else None


def test_the_critic_is_measured_on_first_programs() -> None:
    found = measure(ALL, 2)
    assert (value(found.critic), value(found.of_right), value(found.of_wrong)) == (
        (0.5, 4),
        (0.5, 2),
        (0.5, 2),
    )


def test_the_refiner_is_measured_on_rejected_wrong_programs() -> None:
    found = measure((*ALL, question((0.0, False), (0.0, None), (1.0, None))), 2)
    assert value(found.refiner) == (0.5, 2)


def test_correct_programs_that_end_wrong_are_counted() -> None:
    assert value(measure(ALL, 2).harm) == (1.0, 1)


def test_the_task_score_follows_the_current_program() -> None:
    assert [value(each) for each in measure(ALL, 2).task] == [(0.5, 4), (0.5, 4), (0.5, 4)]
    assert [value(each) for each in measure((FIXED,), 2).task] == [(0.0, 1), (1.0, 1), (1.0, 1)]


def test_a_box_is_correct_above_seven_tenths() -> None:
    found = measure((question((0.7, True)), question((0.75, True))), 0)
    assert value(found.critic) == (0.5, 2)
    assert found.task[0] is not None
    assert found.task[0].value == 0.725


def test_without_verdicts_the_critic_is_not_measured() -> None:
    found = measure((question((1.0, None)),), 0)
    assert (found.critic, found.refiner, value(found.task[0])) == (None, None, (1.0, 1))


def test_the_table_has_a_dash_for_an_unknown_value() -> None:
    text = table({"with": measure(ALL, 1), "none": measure((question((1.0, None)),), 0)})
    head, critic, *_, last = text.splitlines()
    assert head.split() == ["with", "none"]
    assert critic.split()[-3:] == ["of", "4", "–"]
    assert last.startswith("task score after 1 round  ")
    assert "50.0 [15.0, 85.0] of 4" in text


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans() | st.none()), min_size=1, max_size=4), st.integers(0, 9)
)
def test_after_the_last_round_nothing_changes(rounds: list[tuple[float, bool | None]], number: int) -> None:
    found = score_after(question(*rounds), number)
    assert found == rounds[min(number, len(rounds) - 1)][0]
