"""What a cell printed is data: read when it is well formed, never trusted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyvision.offline.conversation import Finding, parse_finding


def test_the_last_result_line_counts() -> None:
    finding = parse_finding('RESULT {"count": 1}\nnoise\n RESULT {"count": 2, "confident": true} \nmore')
    assert finding is not None
    assert finding.whole("count") == 2
    assert finding.confident


def test_output_without_a_result_gives_nothing() -> None:
    for output in ("", "RESULT", "RESULT {", "RESULT {count: 1}", "RESULT [1]", 'a RESULT {"count": 1}'):
        assert parse_finding(output) is None


def test_a_value_of_another_kind_gives_nothing() -> None:
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
