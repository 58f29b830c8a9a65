"""What changed between two graphs is listed item by item, and counted as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings

from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode, difference, normalise, truncate
from tests.strategies.bdog.graphs import any_graphs, graph


def named(*pairs: tuple[str, str]) -> Graph:
    return Graph(tuple(GraphNode(identity, name) for identity, name in pairs))


def count_changes() -> Mapping[str, Mapping[str, int]]:
    before = graph("dog colour=red size=small, cat", "dog chases cat")
    after = graph("dog colour=brown age=3, cat, tree")
    return difference(before, after).counts()


def test_changes_of_attributes_are_counted() -> None:
    assert count_changes()["attributes"] == {"updated": 1, "pruned": 1, "added": 1, "kept": 0}


def test_changes_of_entities_are_counted() -> None:
    assert count_changes()["entities"] == {"updated": 1, "pruned": 0, "added": 1, "kept": 1}


def test_changes_of_relations_are_counted() -> None:
    assert count_changes()["relations"] == {"updated": 0, "pruned": 1, "added": 0, "kept": 0}


def test_another_word_between_the_same_ends_is_an_update() -> None:
    changed = difference(graph("a, b", "a on b"), graph("a, b", "a under b"))
    assert changed.counts()["relations"] == {"updated": 1, "pruned": 0, "added": 0, "kept": 0}


def test_of_several_relations_between_two_ends_those_with_the_same_word_stay() -> None:
    changed = difference(graph("a, b", "a on b", "a hits b"), graph("a, b", "a hits b", "a near b"))
    assert changed.counts()["relations"] == {"updated": 1, "pruned": 0, "added": 0, "kept": 1}


def test_names_are_compared_after_normalisation() -> None:
    before = Graph(
        (GraphNode("1", "The Red_Ball", (("Colour", "Dark-Red"),)), GraphNode("2", "box")),
        (Edge("1", "2", "is on"),),
    )
    after = Graph(
        (GraphNode("7", "red ball", (("colour", "dark red"),)), GraphNode("8", "a Box")),
        (Edge("7", "8", "on"),),
    )
    assert difference(before, after).distance() == 0


def test_renumbered_entities_are_matched_by_their_names() -> None:
    assert difference(named(("1", "dog"), ("2", "cat")), named(("1", "cat"), ("2", "dog"))).distance() == 0


def test_a_number_joins_no_two_names_but_a_word_does() -> None:
    for identity in ("1", "obj1"):
        changed = difference(named((identity, "dog")), named((identity, "car")))
        assert changed.counts()["entities"]["pruned"] == 1
    assert difference(named(("pet", "dog")), named(("pet", "puppy"))).counts()["entities"]["updated"] == 1


def test_renumbered_entities_of_one_name_are_matched_by_their_attributes() -> None:
    black, white = (("colour", "black"),), (("colour", "white"),)
    before = Graph((GraphNode("1", "cat", black), GraphNode("2", "cat", white)))
    after = Graph((GraphNode("3", "cat", white), GraphNode("4", "cat", black)))
    assert difference(before, after).distance() == 0


def test_two_entities_of_one_name_are_matched_by_their_ids() -> None:
    before = Graph(
        (GraphNode("1", "cat", (("colour", "black"),)), GraphNode("2", "cat", (("colour", "white"),)))
    )
    after = Graph((GraphNode("2", "cat", (("colour", "white"),)),))
    (gone,) = (e for e in difference(before, after).entities if e.change == "pruned")
    assert gone.item.id == "1"


def test_growth_counts_by_default() -> None:
    assert difference(graph("a"), graph("a, b")).distance() == 1


def test_growth_can_be_left_out_of_the_distance() -> None:
    assert difference(graph("a"), graph("a, b")).distance(count_added=False) == 0


def test_condensation_counts_each_kind_of_change() -> None:
    changed = difference(graph("a x=1 y=1, b", "a on b"), graph("a x=2 y=2, c"))
    assert changed.condensation() == {"updated": 2, "pruned": 2, "added": 1}


@settings(max_examples=50)
@given(any_graphs())
def test_a_graph_is_no_distance_from_itself(one: Graph) -> None:
    assert difference(one, one).distance() == 0


@settings(max_examples=50)
@given(any_graphs(), any_graphs())
def test_every_item_of_both_graphs_is_counted_once(before: Graph, after: Graph) -> None:
    found = difference(before, after)
    assert [e.before for e in found.entities if e.before] == list(before.nodes)
    assert {e.after for e in found.entities if e.after} == set(after.nodes)
    assert [e.before for e in found.relations if e.before] == list(before.edges)
    assert {e.after for e in found.relations if e.after} == set(after.edges)


@settings(max_examples=50)
@given(any_graphs(), any_graphs())
def test_equation_7_as_printed_does_not_depend_on_the_next_graph(before: Graph, after: Graph) -> None:
    assert difference(before, after).paper_distance() == len(before.nodes) + len(before.edges)


@settings(max_examples=50)
@given(any_graphs(), any_graphs())
def test_what_is_added_one_way_is_pruned_the_other_way(one: Graph, other: Graph) -> None:
    there, back = difference(one, other).counts(), difference(other, one).counts()
    same_size = there["entities"]["added"] - there["entities"]["pruned"]
    assert (
        same_size
        == back["entities"]["pruned"] - back["entities"]["added"]
        == len(other.nodes) - len(one.nodes)
    )


def test_a_graph_is_truncated_to_its_best_connected_entities() -> None:
    cut = truncate(graph("a, b, c, d", "b on c", "c on d"), 2)
    assert cut == graph("b, c", "b on c")


@settings(max_examples=50)
@given(any_graphs())
def test_a_truncated_graph_is_as_small_as_asked(one: Graph) -> None:
    assert len(truncate(one, 2).nodes) == min(2, len(one.nodes))


@settings(max_examples=50)
@given(any_graphs())
def test_a_graph_within_the_limit_is_not_truncated(one: Graph) -> None:
    assert truncate(one, len(one.nodes)) == replace(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("black, blue and yellow", "black, blue, yellow"),
        ("black, blue, and yellow", "black,blue;yellow"),
        ("red & green", "Red and green"),
        ("two dogs", "2 dogs"),
        ("gray", "the grey"),
    ],
)
def test_values_that_say_the_same_are_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), [("red, blue", "blue, red"), ("1,000", "1, 000"), ("sand", "s")])
def test_values_that_say_something_else_differ(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)
