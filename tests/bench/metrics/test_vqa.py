"""VQA accuracy: golden cases of its normalisation and mean, and where the flavours part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.vqa import normalise, normalise_textvqa, normalise_vlmevalkit
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

FLAVOURS = ["official", "vlmevalkit", "paper"]
MIXED = sample(["red"] * 2 + ["dark red"] * 3 + ["maroon"] * 5)


# The rules of VQA's evaluation: punctuation, full stops, number words, articles, contractions.
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Dog", "dog"),
        ("two", "2"),
        ("None", "0"),  # also where a colour is meant: a known fault of the rule
        ("ten", "10"),
        ("eleven", "eleven"),
        ("dont", "don't"),
        ("couldnt've", "couldn't've"),
        ("1,000", "1000"),
        ("black-white", "black white"),
        ("black - white", "black white"),
        ("really?", "really"),
        ("ok ! now", "ok now"),
        ("5.", "5"),
        ("5.5", "5.5"),
        ("mr. x", "mr x"),
        (" a\tred\ncar ", "red car"),
        ("", ""),
    ],
)
def test_the_normalisation_is_that_of_the_evaluation(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_only_the_first_32_full_stops_are_looked_at() -> None:
    assert normalise("x" + "." * 40) == "x" + "." * 8


@pytest.mark.parametrize(
    ("matches", "expected"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (10, 1.0)]
)
def test_the_official_mean_leaves_one_annotator_out(matches: int, expected: float) -> None:
    others = [f"other{number}" for number in range(10 - matches)]
    assert value("vqa", "cat", sample(["cat"] * matches + others)) == pytest.approx(expected)


@pytest.mark.parametrize(("matches", "expected"), [(1, 1 / 3), (2, 2 / 3), (3, 1.0)])
def test_the_papers_formula_counts_all_annotators(matches: int, expected: float) -> None:
    others = [f"other{number}" for number in range(10 - matches)]
    assert value("vqa", "cat", sample(["cat"] * matches + others), "paper") == pytest.approx(expected)


def test_the_official_score_averages_over_the_annotators() -> None:
    assert value("vqa", "dark red", MIXED) == pytest.approx(0.9)


def test_the_score_of_the_paper_is_one_from_three_matches() -> None:
    assert value("vqa", "dark red", MIXED, "paper") == 1


def test_official_leaves_answers_alone_when_all_annotators_agree() -> None:
    of = sample(["yes"] * 10)
    assert value("vqa", "Yes", of, "official") == 0
    assert value("vqa", "Yes", of, "vlmevalkit") == 1


def test_a_full_stop_behind_a_digit_stays_for_vlmevalkit() -> None:
    assert (normalise("5."), normalise_vlmevalkit("5.")) == ("5", "5.")
    of = sample(["5"] * 9 + ["6"])
    assert value("vqa", "5.", of, "official") == 1
    assert value("vqa", "5.", of, "vlmevalkit") == 0


def test_the_paper_leaves_the_truth_as_it_is() -> None:
    of = sample(["The Dog"] * 9 + ["cat"])
    assert value("vqa", "The Dog", of, "official") == 1
    assert value("vqa", "The Dog", of, "paper") == 0


def test_one_truth_is_met_or_not() -> None:
    assert value("vqa", "a dog", sample("Dog")) == 1
    assert value("vqa", "cat", sample(["Dog", "hound"])) == 0


def test_a_boxed_answer_is_taken_out_of_its_prose() -> None:
    assert score("vqa", r"I think it is \boxed{maroon}.", MIXED).parsed == "maroon"


def test_an_article_is_right_where_the_annotators_gave_one() -> None:
    assert value("vqa", "A", sample(["a"] * 5 + ["the"] * 5)) == 1
    assert value("vqa", "-", sample(["-"] * 9 + ["x"])) == 1


@pytest.mark.parametrize(
    ("text", "normal"), [("lets", "lets"), ("somebody'd", "somebodyd"), ("hedve", "hedve")]
)
def test_contractions_are_those_of_the_published_list(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_textvqa_cuts_off_the_possessive() -> None:
    assert normalise_textvqa("Joe's, 1,000?") == "joe 's 1000"
    assert value("textvqa", "joe 's", sample(["Joe's"] * 10)) == 1


def test_an_answer_of_nothing_has_nothing_parsed() -> None:
    assert (score("vqa", " the ", MIXED).parsed, value("vqa", " the ", MIXED)) == (None, 0)


def test_a_target_that_is_not_text_is_named() -> None:
    with pytest.raises(ConfigError, match="needs a text, a number or a list"):
        value("vqa", "x", sample({"a": 1}))


@given(st.text())
def test_normalising_leaves_no_articles(text: str) -> None:
    assert not {"a", "an", "the"} & set(normalise(text).lower().split())


@given(st.text())
def test_normalising_leaves_no_capitals(text: str) -> None:
    assert normalise(text) == normalise(text).lower()


@given(st.text(), st.lists(st.text(), min_size=1, max_size=10), st.sampled_from(FLAVOURS))
def test_any_text_is_scored_from_0_to_1(answer: str, answers: list[str], flavour: str) -> None:
    answers = [text for text in answers if text.strip()] or ["x"]
    found = find_metric("vqa", flavour)(answer, sample(answers)).value
    assert found is not None
    assert 0 <= found <= 1


@given(st.sampled_from(["dog", "The dog.", "A DOG", " dog!", r"\boxed{dog}"]))
def test_an_accepted_form_of_a_shared_answer_scores_one(form: str) -> None:
    assert value("vqa", form, sample(["dog"] * 6 + ["cat"] * 4)) == 1
