from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from pyvision.bench.runner.answering import Finished, Job
from pyvision.bench.runner.progress import ExperimentProgress, RunningTotals, format_status
from pyvision.bench.samples import Record, Score
from pyvision.errors import EndReason
from tests.bench.runs import a_sample


def make_finished(answer: str | None, end_reason: EndReason, error: str | None = None) -> Finished:
    record = Record("sample 0", 0, "", answer, end_reason, error, cost=0.25)
    return Finished(Job(a_sample(0), 0), record, ())


def render(*steps: tuple[Finished, Score], is_terminal: bool = False) -> str:
    file, totals = io.StringIO(), RunningTotals(10)
    with ExperimentProgress(Console(file=file, force_terminal=is_terminal, width=120)) as progress:
        progress.begin(Path("out"), totals)
        for step, score in steps:
            totals.add(step.record, score)
            progress.show(step, score, totals)
    return file.getvalue()


def test_where_there_is_no_terminal_plain_lines_say_how_it_goes() -> None:
    lines = render((make_finished("A", "answered"), Score(1.0))).splitlines()
    assert lines[0] == "0 of 10 done · out"
    assert lines[-1].startswith("1 of 10 · accuracy 100.0% · cost 0.25 · ")
    assert lines[-1].endswith(" left")


def test_each_failure_has_a_line_with_the_last_line_of_its_error() -> None:
    message = render(
        (make_finished(None, "error", "Traceback …\n  File x\nZeroDivisionError: why"), Score(None))
    )
    assert "sample 0 (0): error: ZeroDivisionError: why\n" in message
    assert "1 unscored" in message


def test_an_answer_that_no_metric_could_score_has_a_line_too() -> None:
    message = render((make_finished("A", "answered"), Score(None, "the metric failed: X")))
    assert "sample 0 (0): not scored: the metric failed: X\n" in message


def test_a_wrong_answer_shows_no_failure() -> None:
    assert "sample 0" not in render((make_finished("B", "answered"), Score(0.0)))


def test_a_terminal_gets_a_bar() -> None:
    assert "1/10" in render((make_finished("A", "answered"), Score(1.0)), is_terminal=True)


@pytest.mark.parametrize("hostile", ["[red]x[/red]", "\x1b[31mx", "a\nb"])
def test_what_an_endpoint_says_is_shown_as_text_in_one_line(hostile: str) -> None:
    message = render((make_finished(None, "model_error", hostile), Score(None)))
    assert "\x1b" not in message
    assert len(message.splitlines()) == 3
    assert "[red]" in message or "[red]" not in hostile


def test_a_closed_terminal_does_not_end_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("gone")

    with ExperimentProgress(Console(file=Closed())) as progress:
        progress.begin(Path("out"), RunningTotals(1))
        progress.tell("nobody hears it")


def test_nothing_is_promised_before_anything_ended() -> None:
    assert format_status(RunningTotals(10)) == "nothing scored yet"
