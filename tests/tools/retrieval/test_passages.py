from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.retrieval.passages import (
    PASSAGE_CHARS,
    TITLE_CHARS,
    Passage,
    markdown_passages,
    split,
    text_passages,
)

MARKDOWN = "# Owls\n\nOwls hunt at night.\n\n## Food\n\nMice.\n\n```\n# no heading\n```\n\n## Owls\n\nAgain."


def test_a_passage_of_markdown_keeps_the_titles_it_is_under() -> None:
    titles = [passage.title for passage in markdown_passages(MARKDOWN, "file")]
    assert titles == ["Owls", "Owls — Food", "Owls"]


def test_a_number_sign_in_a_fence_is_no_heading() -> None:
    assert "# no heading" in [passage.text for passage in markdown_passages(MARKDOWN, "file")][1]


FRONT_MATTER = "---\ntitle: 'Birds'\ntags: [a]\n---\nText.\n\n# Owls\nMore."


def test_the_title_of_the_front_matter_begins_every_title() -> None:
    assert [each.title for each in markdown_passages(FRONT_MATTER, "file")] == ["Birds", "Birds — Owls"]


def test_front_matter_is_not_part_of_the_text() -> None:
    assert [each.text for each in markdown_passages(FRONT_MATTER, "file")] == ["Text.", "More."]


def test_markdown_without_a_heading_is_named_by_its_file() -> None:
    assert list(markdown_passages("Only text.", "notes")) == [Passage("notes", "Only text.")]


def test_a_first_line_that_stands_alone_is_the_title_of_a_text() -> None:
    assert list(text_passages("The tower\r\n\r\nIt leans.", "a")) == [Passage("The tower", "It leans.")]
    assert list(text_passages("It leans.\n\nStill.", "a")) == [Passage("a", "It leans.\n\nStill.")]


def test_paragraphs_are_joined_up_to_the_length_of_a_passage() -> None:
    paragraph = "word " * 60
    found = list(split("\n\n".join([paragraph] * 7)))
    assert [part.count("\n\n") + 1 for part in found] == [3, 3, 1]


def test_a_long_paragraph_is_parted_at_the_end_of_a_sentence() -> None:
    sentence = f"{'word ' * 40}end."
    first = next(iter(split(" ".join([sentence] * 9))))
    assert first.endswith("end.")


def test_a_text_of_blanks_has_no_passages() -> None:
    assert list(text_passages(" \n\n\t\n", "a")) == []


@given(st.text(alphabet=st.sampled_from("ab. #\n`-。"), max_size=4000))
def test_splitting_loses_no_letter(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@given(st.text(alphabet=st.sampled_from("ab. #\n`-。"), max_size=4000))
def test_a_part_is_never_longer_than_a_passage(text: str) -> None:
    assert all(0 < len(part) <= PASSAGE_CHARS for part in split(text))


@given(st.text(max_size=500))
def test_any_text_is_read_as_markdown(text: str) -> None:
    for passage in markdown_passages(text, "name"):
        assert passage.text.strip()
        assert len(passage.title) <= 2 * TITLE_CHARS + 3
