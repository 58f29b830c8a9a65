"""What changed between two graphs is drawn, coloured, without boxes that overlap, and nothing in it is markup."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.events import Note
from pyvision.runs.report.debates import figures, page, record
from pyvision.runs.report.graph_drawing import INK, Rectangle, arrange, draw
from pyvision.runs.report.rounds import round_list
from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode, difference
from pyvision.strategies.bdog.graphs.graph import ChangeKind
from tests.pages.parsed import Page
from tests.strategies.bdog.graphs import any_graphs, graph
from tests.strategies.bdog.runs import BLUEPRINT, events_of


def texts(svg: str) -> dict[str, str]:
    """Each text of the picture with its colour."""
    labels = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return {(label.text or "").strip(): label.get("fill", "") for label in labels}


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("updated", ("~ dog", "~ colour: red → brown")),
        ("pruned", ("− cat", "− chases")),
        ("added", ("+ ball", "+ near")),
        ("kept", ("size: big",)),
    ],
)
def test_each_kind_of_change_has_its_colour(kind: ChangeKind, labels: tuple[str, ...]) -> None:
    before = graph("dog colour=red size=big, cat", "dog chases cat")
    after = graph("dog colour=brown size=big, ball", "ball near dog")
    found = texts(draw(difference(before, after)))
    assert {found[label] for label in labels} == {INK[kind]}


def test_renumbered_entities_keep_their_attributes_in_the_image() -> None:
    before = Graph((GraphNode("1", "dog", (("age", "3"),)), GraphNode("2", "cat", (("age", "5"),))))
    after = Graph((GraphNode("2", "dog", (("age", "4"),)), GraphNode("1", "cat", (("age", "5"),))))
    found = texts(draw(difference(before, after)))
    assert {"~ age: 3 → 4", "age: 5"} <= set(found)


def test_markup_that_a_model_wrote_is_shown_as_text() -> None:
    bad = Graph(
        (GraphNode("a", "<script>alert(1)</script>\x07", (("x", "\"&'"),)),), (Edge("a", "a", "</svg><b>"),)
    )
    svg = draw(difference(Graph(), bad))
    assert "<script" not in svg
    assert "+ </svg><b>" in texts(svg)


def test_an_empty_graph_is_an_image_too() -> None:
    assert texts(draw(difference(Graph(), Graph()))) == {"(an empty graph)": INK["kept"]}


@settings(max_examples=50)
@given(any_graphs(), any_graphs())
def test_any_difference_is_drawn_as_well_formed_xml(before: Graph, after: Graph) -> None:
    ElementTree.fromstring(draw(difference(before, after)))


SIZES = st.lists(st.tuples(st.floats(10, 300), st.floats(10, 200)), max_size=25)


def arrange_with_links(sizes: list[tuple[float, float]], data: st.DataObject) -> list[Rectangle]:
    place = st.integers(0, len(sizes) - 1)
    links = data.draw(st.lists(st.tuples(place, place), max_size=30)) if sizes else []
    return list(arrange(sizes, links))


@settings(max_examples=50)
@given(SIZES, st.data())
def test_boxes_keep_their_sizes(sizes: list[tuple[float, float]], data: st.DataObject) -> None:
    assert [(box.width, box.height) for box in arrange_with_links(sizes, data)] == sizes


@settings(max_examples=50)
@given(SIZES, st.data())
def test_no_box_leaves_the_page(sizes: list[tuple[float, float]], data: st.DataObject) -> None:
    assert all(box.x >= 0 and box.y >= 0 for box in arrange_with_links(sizes, data))


@settings(max_examples=50)
@given(SIZES, st.data())
def test_no_two_boxes_overlap(sizes: list[tuple[float, float]], data: st.DataObject) -> None:
    for one, other in combinations(arrange_with_links(sizes, data), 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


def test_the_images_of_a_page_follow_the_debate() -> None:
    captions = [caption for caption, _ in figures(record("a run", events_of()))]
    assert [caption.partition(" <")[0] for caption in captions] == [
        "blueprint",
        *("Round 1, proponent", "Round 1, opponent", "Round 1 as a whole"),
        *("Round 2, proponent", "Round 2, opponent", "Round 2 as a whole"),
    ]


def test_the_image_of_a_round_shows_what_changed_since_the_round_before() -> None:
    drawn = {caption.partition(" <")[0]: texts(svg) for caption, svg in figures(record("a run", events_of()))}
    assert {"− mat", "+ ball", "~ dog"} <= set(drawn["Round 1 as a whole"])
    assert "ball" in drawn["Round 2 as a whole"]


def debate_page() -> str:
    return page(record("a <run>", events_of()))


def test_a_page_gives_the_answer() -> None:
    assert "Answer: <b>B</b>" in debate_page()


def test_a_page_escapes_the_question() -> None:
    assert "Who &lt;runs&gt;?" in debate_page()


def test_a_page_has_no_script() -> None:
    assert "<script" not in debate_page()


def test_a_page_loads_nothing() -> None:
    assert "http://" not in debate_page().replace("http://www.w3.org/2000/svg", "")


def test_the_rounds_are_listed_change_by_change() -> None:
    listed = Page(round_list(events_of()) or "").text
    assert "− mat" in listed
    assert "~ dog (colour: red → brown)" in listed
    assert "+ ball near cat" in listed


def test_an_unchanged_round_says_so() -> None:
    listed = Page(round_list(events_of(epsilon=None, rounds=2)) or "")
    assert "nothing" in listed.text
    assert "no round was left" in listed.text


def test_a_damaged_record_has_no_rounds() -> None:
    assert round_list([Note("graph", {"nodes": []})]) is None


def test_a_run_without_a_debate_has_no_rounds() -> None:
    assert round_list([]) is None


def test_names_in_the_list_of_rounds_are_text() -> None:
    bad = graph("dog colour=<img/src=x>, cat", "dog chases cat")
    assert "<img" not in (round_list(events_of((BLUEPRINT, bad, bad, bad, r"\boxed{B}"))) or "")


def test_a_label_longer_than_the_gap_is_below_the_boxes() -> None:
    row = Graph(
        (GraphNode("a", "hub"), GraphNode("b", "left"), GraphNode("c", "right")),
        (Edge("a", "b", "on"), Edge("a", "c", "on"), Edge("b", "c", "directly to the left of")),
    )
    svg = ElementTree.fromstring(draw(difference(row, row)))
    space = "{http://www.w3.org/2000/svg}"
    bottom = max(
        float(r.get("y", 0)) + float(r.get("height", 0)) for r in svg.iter(space + "rect") if r.get("x")
    )
    label = next(t for t in svg.iter(space + "text") if t.text == "directly to the left of")
    assert float(label.get("y", 0)) > bottom


def test_a_label_as_long_as_the_gap_leaves_its_line_visible() -> None:
    row = Graph(
        (GraphNode("a", "hub"), GraphNode("b", "left"), GraphNode("c", "right")),
        (Edge("a", "b", "on"), Edge("a", "c", "on"), Edge("b", "c", "left of c")),
    )
    svg = ElementTree.fromstring(draw(difference(row, row)))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [float(rect.get("y", 0)) for rect in svg.iter(space + "rect") if rect.get("x")]
    label = next(text for text in svg.iter(space + "text") if text.text == "left of c")
    assert float(label.get("y", 0)) > max(boxes) + 40
