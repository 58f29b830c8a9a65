"""What an audit finds: on small tables by hand, and on a simulated model with planted effects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from benchmarks.audit import (
    GAIN,
    KINDS,
    alarms,
    comparisons,
    main,
    no_effects,
    null_audits,
    planned,
    planted,
    planted_audits,
    summarise,
)
from pyvision.bench.ablations import ABLATIONS
from pyvision.bench.analysis.audit import (
    QUESTIONS,
    Audit,
    AuditFinding,
    audit_report,
    audit_table,
    format_meaning,
)
from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.samples import Result
from pyvision.errors import ConfigError
from tests.bench.analysis.records import results, run_of


def finding(key: str, **ablations: object) -> AuditFinding:
    found = audit_table(ablations)  # type: ignore[arg-type]
    return next(each for each in found.findings if each.key == key)


def twice(values: Iterable[float | None], **fields: Any) -> list[Result]:
    """As `run_of`, with two answers to each sample that agree."""
    listed = list(values)
    return [each for repeat in (0, 1) for each in run_of(listed, repeat=repeat, **fields)]


def test_solved_only_with_tools_or_without_is_counted_where_answers_do_not_vary() -> None:
    ablations = {"tools": twice([1, 1, 1, 0, 0]), "direct": twice([0, 0, 1, 1, 0])}
    found = [finding(key, **ablations).estimate for key in ("only_with_tools", "harmed", "gain")]
    assert [each and each.value for each in found] == pytest.approx([0.4, 0.2, 0.2])


def test_tools_that_change_nothing_have_no_benefit() -> None:
    """Before, this was 25 %: half of the samples are right by chance, and as many of them wrong in the other."""
    luck = [results(f"s{i}", (i >> r) & 1, repeat=r) for i in range(16) for r in range(4)]
    other = [results(f"s{i}", (i >> (r + 2) % 4) & 1, repeat=r) for i in range(16) for r in range(4)]
    found = finding("only_with_tools", tools=luck, direct=other)
    assert found.estimate is not None
    assert found.estimate.value <= 0
    assert found.verdict == "no effect shown"


def test_single_answers_are_too_few_to_tell() -> None:
    found = finding("only_with_tools", tools=run_of([1] * 50), direct=run_of([0] * 50))
    assert (found.estimate, found.verdict) == (None, "too few repeats")
    assert "--repeat 2 or more" in format_meaning(found)


def test_a_sample_with_one_answer_is_left_out_where_two_are_needed() -> None:
    tools = [*twice([1, 0]), results("s2", 1)]
    found = finding("harmed", tools=tools, direct=twice([1, 1, 1]))
    assert (found.n, found.unpaired) == (2, 1)


def test_a_difference_needs_no_repeats() -> None:
    found = finding("gain", tools=run_of([1] * 50), direct=run_of([0] * 50))
    assert found.verdict == "effect"


def test_an_effect_is_judged_among_all_findings() -> None:
    tools, other = run_of([1] * 60), run_of([1] * 52 + [0] * 8)
    alone = audit_table({"tools": tools, "direct": other}).findings
    gain = next(each for each in alone if each.key == "gain")
    assert gain.estimate is not None
    many = audit_table(
        dict.fromkeys(("not_run", "format_only", "result_only"), other) | {"tools": tools, "direct": other}
    )
    again = next(each for each in many.findings if each.key == "gain")
    assert again.estimate == gain.estimate
    assert gain.p is not None
    assert again.p is not None
    assert again.p > gain.p


def test_the_effect_of_running_is_separated_from_that_of_the_form() -> None:
    ablations = {
        "direct": run_of([0, 0, 0, 1]),
        "not_run": run_of([0, 0, 1, 1]),
        "tools": run_of([1, 1, 1, 1]),
    }
    execution, form = finding("execution", **ablations).estimate, finding("form", **ablations).estimate
    assert execution is not None
    assert form is not None
    assert (execution.value, form.value) == (0.5, 0.25)


def test_figures_count_only_where_some_were_shown() -> None:
    tools = [*twice([1] * 20, figures=1), results("x", 1), results("x", 1, repeat=1)]
    blank = [*run_of([1] * 10 + [0] * 10), results("x", 1)]
    found = finding("blank", tools=tools, direct=tools, blank=blank)
    assert found.estimate is not None
    assert (found.estimate.value, found.n, found.verdict) == (0.5, 20, "effect")


def test_a_question_without_solved_samples_has_no_estimate() -> None:
    tools = twice([0], figures=1)
    found = finding("swapped", tools=tools, direct=tools, swapped=tools)
    assert found.estimate is None
    assert "no sample" in format_meaning(found)


def test_the_oracle_is_asked_about_samples_with_a_box_only() -> None:
    found = finding("oracle", tools=twice([0, 0, 1, 0]), direct=run_of([0] * 4), oracle=twice([1, 0]))
    assert (found.n, found.unpaired) == (2, 0)
    assert found.estimate is not None
    assert found.estimate.value == 0.5


def test_a_sample_without_a_score_in_one_ablation_counts_as_left_out() -> None:
    tools = [results("a", 1), results("b", None, end_reason="sandbox_error")]
    found = finding("gain", tools=tools, direct=[*run_of([0]), results("a", 0), results("b", 1)])
    assert (found.n, found.unpaired) == (1, 2)


@pytest.mark.parametrize("name", ["direct", "tools"])
def test_an_audit_without_one_of_its_two_main_ablations_is_an_error(name: str) -> None:
    ablations = {"direct": run_of([1]), "tools": run_of([1])}
    del ablations[name]
    with pytest.raises(ConfigError, match=name):
        audit_table(ablations)


def test_an_unknown_ablation_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown ablation 'tool'; known ablations are blank, direct"):
        audit_table({"tool": run_of([1])})


def test_every_ablation_has_a_question() -> None:
    assert {name for question in QUESTIONS for name in question.needs} == {
        ablation.name for ablation in ABLATIONS
    }


def audit_without_effect() -> str:
    """The report of two ablations that score the same."""
    audit = audit_table({"direct": run_of([1, 0, 1, 0]), "tools": run_of([1, 0, 1, 0])})
    return " ".join(to_markdown(audit_report(audit, "audit of x")).split())


def test_the_report_names_the_questions_it_cannot_answer() -> None:
    expected = "Not answered, because an ablation is missing: gain from running the cells"
    assert expected in audit_without_effect()


def test_the_report_says_where_there_may_be_no_effect() -> None:
    assert "there may be no effect" in audit_without_effect()


def test_the_report_describes_each_ablation() -> None:
    assert "tools: the strategy unchanged" in audit_without_effect()


def test_audits_of_tools_that_change_nothing_report_few_effects() -> None:
    """At most one in 20 is promised; 5 or more of 20 have a chance below one in a hundred."""
    assert alarms(null_audits(20, samples=40, repeats=2)) <= 4 / 20


def test_every_planted_effect_is_in_its_interval_as_often_as_promised() -> None:
    """Of 20 audits 19 are expected; 14 or fewer have a chance below one in a thousand, for any of the questions."""
    lines = summarise(planted_audits(20, samples=60, repeats=2), planted())
    assert {line.title: line.covered for line in lines if line.covered < 15 / 20} == {}


def test_an_effect_that_was_not_planted_is_refuted() -> None:
    wrong = {key: truth + 0.3 for key, truth in planted().items()}
    assert max(line.covered for line in summarise(planted_audits(8, 100, 2), wrong)) <= 0.25


@pytest.fixture(scope="module")
def null_worlds() -> list[Audit]:
    """A smaller `make null-simulation`."""
    return null_audits(300, samples=200, repeats=2)


@pytest.mark.slow
def test_false_alarms_are_rare_in_many_worlds_without_an_effect(null_worlds: list[Audit]) -> None:
    assert alarms(null_worlds) <= 0.08


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_promised_in_many_worlds(null_worlds: list[Audit]) -> None:
    with_effects = summarise(planted_audits(300, 200, 2), planted())
    for line in (*summarise(null_worlds, no_effects()), *with_effects):
        assert 0.91 <= line.covered <= 0.99, line


@pytest.mark.slow
def test_a_planned_number_of_samples_has_the_planned_power() -> None:
    shown, _ = comparisons(300, planned(GAIN, 2), repeats=2, gain=GAIN)
    assert 0.72 <= shown <= 0.88


def test_the_simulated_kinds_are_all_of_the_samples() -> None:
    assert sum(kind.share for kind in KINDS) == pytest.approx(1)


def test_the_simulation_prints_a_line_for_each_question(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--worlds", "2", "--samples", "20", "--repeats", "2"])
    printed = capsys.readouterr().out
    assert printed.count("solved only with tools ") == 2
    assert printed.count("audits that report an effect:") == 2
    assert printed.count("planned for 80%") == 2
