from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.retrieval.query_plan import (
    ENOUGH,
    MAX_COMMON,
    MAX_RARE,
    Words,
    for_common,
    for_rare,
    split_words,
)

PASSAGES = 100_000


def test_words_are_rare_while_few_passages_hold_them() -> None:
    frequencies = {"lake": 30_000, "heron": 900, "owl": 3_000, "mud": 4_000}
    assert split_words(frequencies, PASSAGES) == Words(("heron", "owl"), ("mud", "lake"))


def test_a_word_of_most_passages_counts_only_by_itself() -> None:
    assert split_words({"the": 90_000, "owl": 5}, PASSAGES) == Words(("owl",), ())
    assert split_words({"the": 90_000, "lake": 5_000}, PASSAGES) == Words((), ("lake",))
    assert split_words({"the": 90_000, "a": 95_000}, PASSAGES) == Words((), ("the",))


def test_the_commonest_words_of_a_long_query_do_not_count() -> None:
    frequencies = {f"word{number}": 20_000 + number for number in range(9)}
    assert split_words(frequencies, PASSAGES).common == ("word0", "word1", "word2", "word3")


@given(st.dictionaries(st.sampled_from([f"w{n}" for n in range(64)]), st.integers(1, 10**6)))
def test_some_word_always_counts_and_the_bounds_hold(frequencies: dict[str, int]) -> None:
    words = split_words(frequencies, 10**6)
    assert bool(words.rare or words.common) == bool(frequencies)
    assert sum(frequencies[word] for word in words.rare) <= MAX_RARE
    assert len(words.common) == 1 or sum(frequencies[word] for word in words.common) <= MAX_COMMON


def test_common_words_are_looked_up_for_passages_with_rare_ones() -> None:
    alone, both = for_rare(Words(("heron", "owl"), ("lake",)))
    assert alone.match == '"heron" OR "owl"'
    assert both.match == '("heron" OR "owl") AND ("lake")'


def test_levels_are_taken_from_the_weightiest_until_there_are_enough() -> None:
    frequencies = {"lake": 30_000, "lake_9": 10, "lake_4": ENOUGH, "lake_3": 50_000}
    (search,) = for_common(Words((), ("lake",)), frequencies)
    assert "lake_9" in search.match
    assert "lake_4" in search.match
    assert "lake_3" not in search.match


def test_passages_where_two_common_words_weigh_much_are_scored() -> None:
    frequencies = {
        "lake": 30_000,
        "mud": 9_000,
        "lake_1": 40_000,
        "lake_9": ENOUGH,
        "mud_1": 40_000,
        "mud_9": ENOUGH,
    }
    (search,) = for_common(Words((), ("mud", "lake")), frequencies)
    assert '("mud_9" OR "mud_1") AND ("lake_9" OR "lake_1")' in search.match


def test_words_that_weigh_much_nowhere_are_taken_where_they_stand() -> None:
    found = for_common(Words((), ("mud", "lake")), {"mud": 9_000, "lake": 30_000})
    assert [search.match for search in found] == ['"mud"', '("mud") AND ("lake")']
