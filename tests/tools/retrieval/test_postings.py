from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.retrieval.postings import LEVELS, postings_in, postings_of
from pyvision.tools.retrieval.words import words_in

FILLING = [f"filling{number}" for number in range(110)]


def level_of(word: str, marks: list[str]) -> int:
    return next((LEVELS - place for place, mark in enumerate(postings_of(word)) if mark in marks), 0)


def test_a_word_that_is_said_once_in_a_passage_of_usual_length_has_no_mark() -> None:
    assert postings_in([], FILLING) == []


def test_a_word_weighs_more_the_more_often_it_is_said() -> None:
    levels = [level_of("owl", postings_in([], FILLING + ["owl"] * times)) for times in (1, 2, 3, 4, 5)]
    assert levels == sorted(set(levels))


def test_a_word_of_a_title_weighs_as_much_as_one_that_is_said_twice() -> None:
    assert level_of("owl", postings_in(["owl"], FILLING)) == level_of(
        "owl", postings_in([], [*FILLING, "owl", "owl"])
    )


def test_a_word_weighs_more_in_a_shorter_passage() -> None:
    assert level_of("owl", postings_in([], ["owl", "hunt"])) > level_of(
        "owl", postings_in([], ["owl", *FILLING[:50]])
    )


def test_no_word_of_a_text_is_taken_for_a_mark() -> None:
    assert not set(words_in("owl_3 OWL_3")) & set(postings_of("owl"))


@given(title=st.text(max_size=30), text=st.text(max_size=200))
def test_every_mark_is_one_of_a_word_of_the_passage(title: str, text: str) -> None:
    of_title, of_text = words_in(title), words_in(text)
    marks = postings_in(of_title, of_text)
    assert set(marks) <= {mark for word in (*of_title, *of_text) for mark in postings_of(word)}
    assert len({mark.rpartition("_")[0] for mark in marks}) == len(marks)
