from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.retrieval.passages import MAX_WORD_CHARS, query_terms, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Café", ["the", "cafe"]),
        ("Städte, STRASSE und Straße", ["stadte", "strasse", "und", "strasse"]),
        ("don't", ["don", "t"]),
        ("日本の旗", ["日", "本", "の", "旗"]),
        ("3.5 km2", ["3", "5", "km2"]),
        ("snake_case", ["snake", "case"]),
        ("?!-", []),
    ],
)
def test_a_text_is_split_into_folded_words(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("owls", "owl"),
        ("ladies", "lady"),
        ("horses", "horse"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("gas", "gas"),
    ],
)
def test_an_english_plural_is_found_by_its_singular(plural: str, singular: str) -> None:
    assert tokenize(plural) == tokenize(singular)


def test_a_query_has_each_word_once() -> None:
    assert query_terms("owl Owls hunt owls", 9) == ("owl", "hunt")


def test_a_query_has_only_so_many_words() -> None:
    assert query_terms("owls hunt at night", 3) == ("owl", "hunt", "at")


@given(st.text())
def test_words_are_free_of_what_the_query_language_means(text: str) -> None:
    for word in tokenize(text):
        assert 0 < len(word) <= MAX_WORD_CHARS
        assert not set(word) & set('" \n\t*^:()+-')
