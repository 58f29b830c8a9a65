"""Charts: relaxed accuracy, ChartQAPro's lists and years, and what rules can decide of CharXiv."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value


# ChartQA (arXiv 2203.10244, section 5.1): within 5 % of a number, else the same text.
@pytest.mark.parametrize("flavour", ["pix2struct", "vlmevalkit", "lmms-eval"])
@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("105", "100", 1),
        ("106", "100", 0),
        ("-95", "-100", 1),
        ("5%", "0.05", 1),
        ("5", "5%", 0),
        ("0.0", "0", 0),  # a truth of 0 is compared as text
        ("germany", "Germany", 1),
        ("about 100", "100", 0),
        ("nan", "100", 0),
    ],
)
def test_a_number_may_be_off_by_five_percent(answer: str, target: str, right: int, flavour: str) -> None:
    assert value("chartqa", answer, sample(target), flavour) == right


def test_space_around_a_word_is_removed_by_vlmevalkit_alone() -> None:
    assert value("relaxed", " Yes ", sample("yes"), "vlmevalkit") == 1
    assert value("relaxed", " Yes ", sample("yes"), "lmms-eval") == 0


# ChartQAPro (vis-nlp/ChartQAPro): lists by part, years exactly, texts by similarity.
@pytest.mark.parametrize(
    ("answer", "target", "flags", "expected"),
    [
        ("103", "100", ["NO"], 1.0),
        ("103", "100", ["YES"], 0.0),
        ("5%", "5", ["NO"], 1.0),
        ("0", "0.0", ["NO"], 1.0),
        ("['Germany', 12]", "[Germany, 12]", ["NO", "NO"], 1.0),
        ("['Germany']", "[Germany, 12]", ["NO", "NO"], 0.5),
        ("['Germany', 12, 3]", "[Germany, 12]", ["NO", "NO"], 2 / 3),
        ("[Germany, 12]", "[Germany, 12]", ["NO", "NO"], 7 / 26),  # the answer's parts need quotes
        ("Germani", "Germany", ["NO"], 6 / 7),
        ("ab", "ax", ["NO"], 0.0),  # one half is not enough here
    ],
)
def test_parts_are_compared_by_their_kind(
    answer: str, target: str, flags: list[str], expected: float
) -> None:
    assert value("chartqapro", answer, sample(target, year_flags=flags)) == pytest.approx(expected)


def test_the_last_year_flag_counts_for_a_conversation() -> None:
    of = sample("2001", question_type="Conversational", year_flags=["YES", "NO"])
    assert value("chartqapro", "2002", of) == 1


def test_a_deeply_nested_list_is_a_text() -> None:
    assert value("chartqapro", "[" * 1_000, sample("[1, 2]", year_flags=["NO"])) == 0


def test_a_target_that_is_not_text_is_named() -> None:
    with pytest.raises(ConfigError, match="this metric needs a text"):
        value("chartqapro", "1", sample({"a": 1}))


# CharXiv's rubrics: exact values, "Not Applicable", layouts, the same terms.
@pytest.mark.parametrize(
    ("answer", "target", "metadata", "right"),
    [
        ("1.5e3", "1500", {"inst_category": 3}, 1),
        ("0.012", "0.01", {"inst_category": 4}, 0),
        ("The answer is 5", "5", {"template": 10}, 1),
        ("Not Applicable.", "Not Applicable", {"template": 12}, 1),
        ("0", "Not Applicable", {"template": 12}, 0),
        ("2 x 3", "2 by 3", {"template": 18}, 1),
        ("3 by 2", "2 by 3", {"template": 18}, 0),
        ("No, they do not.", "No", {"template": 11}, 1),
        ("$R^2_t$", "R^2_t", {"template": 1}, 1),
        ("Time (s)", "time (ms)", {"template": 2}, 0),
        ("[50, 100]", "[50,100]", {"inst_category": 2}, 1),
    ],
)
def test_rules_decide_what_is_equal_but_for_notation(
    answer: str, target: str, metadata: dict[str, Any], right: int
) -> None:
    assert value("charxiv", answer, sample(target, **metadata)) == right


def test_a_number_in_prose_is_left_to_the_judge() -> None:
    assert score("charxiv", "some five or six", sample("5", template=10)).parsed is None


@given(st.text(), st.sampled_from(["chartqa", "chartqapro", "charxiv"]))
def test_any_text_is_scored(answer: str, name: str) -> None:
    found = find_metric(name)(answer, sample("[12, red]")).value
    assert found is not None
    assert 0 <= found <= 1
