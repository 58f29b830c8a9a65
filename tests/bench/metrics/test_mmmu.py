"""MMMU: free answers by its key phrases and numbers, and as VLMEvalKit turns them into choices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.mmmu import open_candidates
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

FLAVOURS = ["strict", "as-published", "vlmevalkit"]


# MMMU's parse_open_response: the shortest phrase behind a key word of each line, and every number in it.
@pytest.mark.parametrize(
    ("answer", "candidates"),
    [
        ("5", (5.0,)),
        ("1,204.567", (1204.57, 1204.0, 204.57)),  # its patterns for numbers overlap
        ("so the answer is 7", (7.0,)),
        ("x\ny = 3", (3.0,)),
        ("so the final result is zinc", ("zinc",)),
        ("x = 3\nso y", (" y", "y ")),  # "=" counts on the last line alone
        ("a = 2 apples", ("2 apples", 2.0)),
        ("x", (" x", "x ")),
        ("Red Car.", ("red car",)),
        ("It is 1e3 or -4", ("1e3 or -4", 1000.0, 3.0, -4.0)),
    ],
)
def test_the_candidates_of_a_free_answer(answer: str, candidates: tuple[str | float, ...]) -> None:
    assert open_candidates(answer) == candidates


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("The answer is 3.14159", "3.14", 1),
        ("The answer is $1,200", "1200", 1),
        ("it is the mitral valve", "mitral valve", 1),
        ("it is the aortic valve", "mitral valve", 0),
        ("I get 24", ["24", "24.0"], 1),
        ("therefore 6", "7", 0),
    ],
)
def test_a_free_answer_is_right_by_value_or_by_containing_the_truth(
    answer: str, target: object, right: int
) -> None:
    assert value("mmmu", answer, sample(target)) == right


def test_a_number_to_two_decimals_is_text_for_vlmevalkit() -> None:
    assert value("mmmu", "so it is 3.10", sample("3.1000"), "strict") == 1
    assert value("mmmu", "so it is 3.10", sample("3.1000"), "vlmevalkit") == 0


def test_vlmevalkit_lets_a_part_of_a_longer_number_pass() -> None:
    assert value("mmmu", "it comes to 135 in all", sample("35"), "vlmevalkit") == 1
    assert value("mmmu", "it comes to 135 in all", sample("35"), "strict") == 0


def test_letters_that_the_question_does_not_show_are_not_read() -> None:
    assert value("mmmu", "Not A clue.", sample("zinc"), "vlmevalkit") == 0


def test_a_text_inside_another_word_is_right_as_published_alone() -> None:
    assert value("mmmu", "There are many rings", sample("an"), "as-published") == 1
    assert value("mmmu", "There are many rings", sample("an"), "strict") == 0


@pytest.mark.parametrize("target", ["", " ", float("nan"), []])
def test_a_target_without_content_cannot_be_scored(target: object) -> None:
    with pytest.raises(ConfigError, match="none may be blank or NaN"):
        value("mmmu", "anything", sample(target))


def test_a_choice_that_is_not_found_is_wrong() -> None:
    of = sample("B", "a cat", "a dog")
    assert score("mmmu", "hm", of, "as-published").why == "no option found"
    assert value("mmmu", "(B)", of, "as-published") == 1


@given(
    st.text(),
    st.sampled_from([sample("B", "x", "y"), sample("3.5"), sample(["red", "7"])]),
    st.sampled_from(FLAVOURS),
)
def test_any_text_is_scored(answer: str, of: Sample, flavour: str) -> None:
    assert find_metric("mmmu", flavour)(answer, of).value in (0, 1)


@given(st.decimals(-(10**6), 10**6, places=2, allow_nan=False))
def test_a_number_is_right_behind_each_key_word(number: object) -> None:
    for form in ("{}", "The answer is {}", "so {}", "x = {}", "Thus we get the result {}"):
        assert value("mmmu", form.format(number), sample(str(number))) == 1
