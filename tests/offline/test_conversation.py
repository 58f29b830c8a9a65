"""A conversation is parsed from its text alone; what a cell printed is checked, never trusted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.offline.conversation import Finding, parse_conversation, parse_finding
from pyvision.types import Message, Text
from tests.offline.loop import opening


def message(role: str, text: str) -> Message:
    assert role in ("user", "assistant")
    return Message("user" if role == "user" else "assistant", (Text(text),))


def test_the_question_comes_from_the_opening() -> None:
    conversation = parse_conversation(opening("How many rows\nare there?", [(10, 20), (30, 40)]))
    assert conversation.question == "How many rows\nare there?"
    assert conversation.images == 2
    assert conversation.can_run


def test_a_question_without_tags_is_found() -> None:
    assert (
        parse_conversation([message("user", "<image_clue_0></image_clue_0> How wide is it?")]).question
        == "How wide is it?"
    )


def test_a_long_prompt_without_tags_is_not_a_question() -> None:
    assert parse_conversation([message("user", "many words " * 100)]).question == ""


def test_each_cell_is_paired_with_the_turn_after_it() -> None:
    conversation = parse_conversation(
        [
            *opening("q", [(1, 1)]),
            message("assistant", "<code>a</code>"),
            message("user", "note <interpreter>\none\n</interpreter> note"),
            message("assistant", "only conversation"),
            message("user", "That reply could not be used."),
            message("assistant", "<code>b</code>"),
            message("user", "timeout"),
        ]
    )
    assert [output.strip() for output in conversation.outputs] == ["one", "timeout"]


def test_a_cell_in_words_of_the_assistant_does_not_mean_that_code_can_run() -> None:
    assert not parse_conversation(
        [message("user", "How wide is it?"), message("assistant", "<code>x</code>")]
    ).can_run


def test_the_last_result_line_counts() -> None:
    finding = parse_finding('RESULT {"count": 1}\nnoise\n RESULT {"count": 2, "confident": true} \nmore')
    assert finding is not None
    assert finding.whole("count") == 2
    assert finding.confident


def test_output_without_a_result_gives_nothing() -> None:
    for output in ("", "RESULT", "RESULT {", "RESULT {count: 1}", "RESULT [1]", 'a RESULT {"count": 1}'):
        assert parse_finding(output) is None


def test_a_value_of_another_type_gives_nothing() -> None:
    finding = Finding(
        {"count": "7", "flag": 1, "text": 3, "texts": ["a", 1], "boxes": [[1, 2, 3]], "n": True}
    )
    assert finding.whole("count") is None
    assert finding.whole("n") is None
    assert finding.flag("flag") is None
    assert finding.text("text") is None
    assert finding.texts("texts") is None
    assert finding.boxes("boxes") is None


def test_only_true_is_confident() -> None:
    assert not Finding({"confident": "true"}).confident
    assert not Finding({"confident": 1}).confident


@given(st.text())
def test_no_output_raises(output: str) -> None:
    parse_finding(output)
    parse_finding(f"RESULT {{{output}}}")


VALUES = st.text() | st.lists(st.text() | st.integers(), max_size=3)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_no_finding_holds_markup(values: dict[str, object]) -> None:
    finding = Finding(values)
    for key in values:
        texts = (finding.text(key) or "", *(finding.texts(key) or ()))
        assert not set("".join(texts)) & set("\\{}<>\n")
