"""What an audit finds: on small tables by hand, and on a simulated model with planted effects."""

from __future__ import annotations

import pytest

from benchmarks.audit import KINDS, covered, main, planted, simulate
from pyvision.bench.ablations import ABLATIONS
from pyvision.bench.analysis.audit import QUESTIONS, Finding, audit_report, audit_table, format_meaning
from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.statistics import wilson
from pyvision.errors import ConfigError
from tests.bench.analysis.records import results, run_of


def finding(key: str, **ablations: object) -> Finding:
    found = audit_table(ablations)  # type: ignore[arg-type]
    return next(each for each in found.findings if each.key == key)


def test_solved_only_with_tools_and_harmed_by_tools_are_counted_by_sample() -> None:
    ablations = {"tools": run_of([1, 1, 1, 0, 0]), "direct": run_of([0, 0, 1, 1, 0])}
    assert finding("only_with_tools", **ablations).estimate == wilson(2, 5)
    assert finding("harmed", **ablations).estimate == wilson(1, 5)
    gain = finding("gain", **ablations).estimate
    assert gain is not None
    assert gain.value == pytest.approx(0.2)


def test_what_running_brings_is_told_from_what_the_form_brings() -> None:
    ablations = {
        "direct": run_of([0, 0, 0, 1]),
        "not_run": run_of([0, 0, 1, 1]),
        "tools": run_of([1, 1, 1, 1]),
    }
    execution, form = finding("execution", **ablations).estimate, finding("form", **ablations).estimate
    assert execution is not None
    assert form is not None
    assert (execution.value, form.value) == (0.5, 0.25)


def test_figures_count_only_where_some_were_shown_and_the_sample_was_solved() -> None:
    tools = [
        results("a", 1, figures=2),
        results("b", 1, figures=1),
        results("c", 1),
        results("d", 0, figures=1),
    ]
    blank = [results("a", 1), results("b", 0), results("c", 1), results("d", 1)]
    found = finding("blank", tools=tools, direct=tools, blank=blank)
    assert found.estimate == wilson(1, 2)


def test_a_question_without_solved_samples_has_no_estimate() -> None:
    tools = [results("a", 0, figures=1)]
    found = finding("swapped", tools=tools, direct=tools, swapped=tools)
    assert found.estimate is None
    assert "no sample" in format_meaning(found)


def test_the_oracle_is_asked_about_samples_with_a_box_only() -> None:
    found = finding("oracle", tools=run_of([0, 0, 1, 0]), direct=run_of([0] * 4), oracle=run_of([1, 0]))
    assert (found.n, found.left_out) == (2, 0)
    assert found.estimate == wilson(1, 2)


def test_a_sample_without_a_score_in_one_ablation_is_left_out_and_counted() -> None:
    tools = [results("a", 1), results("b", None, end_reason="sandbox_error")]
    found = finding("gain", tools=tools, direct=[*run_of([0]), results("a", 0), results("b", 1)])
    assert (found.n, found.left_out) == (1, 2)


def test_repeats_take_the_luck_out_of_single_answers() -> None:
    tools = [results("a", value, repeat=number) for number, value in enumerate((1, 1, 0, 0))]
    found = finding("only_with_tools", tools=tools, direct=[results("a", 1), results("a", 0, repeat=1)])
    assert found.estimate is not None
    assert found.estimate.value == 0.25


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


def test_the_report_names_unanswered_questions_and_open_effects() -> None:
    audit = audit_table({"direct": run_of([1, 0, 1, 0]), "tools": run_of([1, 0, 1, 0])})
    text = " ".join(to_markdown(audit_report(audit, "audit of x")).split())
    assert "Not answered, because an ablation is missing: gain from running the cells" in text
    assert "there may be no effect" in text
    assert "tools: the strategy unchanged" in text


@pytest.mark.parametrize(("count", "share"), [(60, 0.9), pytest.param(300, 0.93, marks=pytest.mark.slow)])
def test_every_planted_effect_lies_in_its_interval_as_often_as_promised(count: int, share: float) -> None:
    """Of a hundred audits too few would miss by luck alone once in eight times; of three hundred they do not."""
    audits = [audit_table(simulate(seed, samples=150)) for seed in range(count)]
    counts = covered(audits, planted())
    assert set(counts) == {question.key for question in QUESTIONS}
    assert {key: held for key, held in counts.items() if held < share * count} == {}


def test_an_effect_that_was_not_planted_is_refuted() -> None:
    audits = [audit_table(simulate(seed, samples=300)) for seed in range(20)]
    assert max(covered(audits, {key: truth + 0.2 for key, truth in planted().items()}).values()) <= 1


def test_the_simulated_kinds_are_all_of_the_samples() -> None:
    assert sum(kind.share for kind in KINDS) == pytest.approx(1)


def test_the_benchmark_prints_a_line_for_each_question(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--runs", "2", "--samples", "20", "--repeats", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(QUESTIONS)
    assert lines[1].endswith("of 2")
