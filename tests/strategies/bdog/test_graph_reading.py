"""Graphs are found in replies of every form, repaired where that can be done, and never raise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode, read_graph
from tests.strategies.bdog.corrupter import FILE, as_text
from tests.strategies.bdog.graphs import LINES, any_graphs, graph

CORPUS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
KEYS = ("objects", "relationships", "nodes", "edges", "id", "name", "attributes", "source", "target", "type")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | LINES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | LINES, inner, max_size=4)
    ),
    max_leaves=20,
)


def names(found: Graph) -> list[str]:
    return sorted(node.name for node in found.nodes)


def relations(found: Graph) -> list[list[str]]:
    by_id = {node.id: node.name for node in found.nodes}
    return sorted([by_id[edge.source], edge.relation, by_id[edge.target]] for edge in found.edges)


@given(any_graphs())
def test_a_graph_that_is_written_is_read_back_without_a_repair(written: Graph) -> None:
    assert read_graph(written.json()) == (written, ())


@given(any_graphs())
def test_prose_around_a_fenced_graph_changes_nothing(written: Graph) -> None:
    assert read_graph(f"Here it is:\n```json\n{written.json()}\n```\nThat is all.")[0] == written


@given(any_graphs(), st.data())
def test_a_graph_that_is_cut_gives_a_part_of_it(written: Graph, data: st.DataObject) -> None:
    text = written.json()
    cut = read_graph(text[: data.draw(st.integers(0, len(text)))])[0]
    assert len(cut.nodes) <= len(written.nodes) + 1  # the last one may be cut in the middle of its id


@given(st.text() | st.text("{}[]\",:'ab \n`./*\\"))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found, repairs = read_graph(text)
    assert found or repairs or found == Graph()


@given(JSON_VALUES)
def test_the_graph_read_from_any_json_is_read_again_unchanged(value: Any) -> None:
    found, _ = read_graph(json.dumps(value))
    assert read_graph(found.json()) == (found, ())


def test_the_corpus_contains_over_200_malformed_texts() -> None:
    assert sum(line["damage"] != "whole" for line in CORPUS) >= 200


def test_the_corpus_is_what_its_generator_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == as_text()


each_lossless_damage = pytest.mark.parametrize(
    "damage", sorted({line["damage"] for line in CORPUS if line.get("lossless")})
)


@each_lossless_damage
def test_every_name_survives_a_damage_that_loses_nothing(damage: str) -> None:
    for line in (line for line in CORPUS if line["damage"] == damage):
        assert names(read_graph(line["text"])[0]) == sorted(line["names"]), line["text"]


@each_lossless_damage
def test_every_relation_survives_a_damage_that_loses_nothing(damage: str) -> None:
    for line in (line for line in CORPUS if line["damage"] == damage):
        assert relations(read_graph(line["text"])[0]) == sorted(line["relations"]), line["text"]


@pytest.mark.parametrize("damage", ["truncated", "cut_at_350"])
def test_a_truncated_graph_gives_the_entities_before_the_cut(damage: str) -> None:
    for line in (line for line in CORPUS if line["damage"] == damage):
        found, _ = read_graph(line["text"])
        invented = set(names(found)) - set(line["names"])
        assert (bool(found), len(invented) <= 1) == (True, True), line["text"]  # the last name may be cut


WRONG_BRACKETS = [line for line in CORPUS if line["damage"] == "bracket"]


def test_a_wrong_bracket_leaves_a_part_of_the_graph() -> None:
    for line in WRONG_BRACKETS:
        assert set(names(read_graph(line["text"])[0])) & set(line["names"]), line["text"]


def test_a_wrong_bracket_is_reported_as_a_repair() -> None:
    expected = {"mismatched_bracket", "truncated", "missing_comma", "stray_text", "labelled_lists"}
    for line in WRONG_BRACKETS:
        assert expected & set(read_graph(line["text"])[1]), line["text"]


def test_prose_is_read_as_an_empty_graph_with_a_repair() -> None:
    texts = {line["text"] for line in CORPUS if line["damage"] == "prose"}
    assert {read_graph(text) for text in texts} == {(Graph(), ("prose",))}


FORMS = {
    "nodes and edges": '{"nodes": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "edges": [[1, "on", 2]]}',
    "relations inside": '{"objects": [{"name": "a", "relationships": [{"type": "on", "target": "b"}]}, {"name": "b"}]}',
    "relation to target": '{"objects": [{"name": "a", "relations": {"on": "b"}}, {"name": "b"}]}',
    "a map of objects": '{"objects": {"a": {}, "b": {}}, "links": [{"from": "a", "to": "b", "relation": "on"}]}',
    "names": '{"objects": ["a", "b"], "relationships": ["a on the b"]}',
    "arrows": '{"objects": ["a", "b"], "relationships": ["a -> on -> b"]}',
    "one list": '[{"name": "a"}, {"name": "b"}, {"source": "a", "target": "b", "relation": "on"}]',
    "labels": 'Objects: [{"name": "a"}, {"name": "b"}]\nRelationships: [["a", "on", "b"]]',
    "fenced labels": '**Objects:**\n```json\n["a", "b"]\n```\n**Relationships:**\n```json\n[["a", "on", "b"]]\n```',
    "both ends in a list": '{"objects": ["a", "b"], "relationships": [{"objects": ["a", "b"], "type": "on"}]}',
    "ends as records": '{"objects": ["a", "b"], "edges": [{"from": {"name": "a"}, "to": {"name": "b"}, "verb": "on"}]}',
    "a text in JSON": '{"kg": "{\\"objects\\": [\\"a\\", \\"b\\"], \\"edges\\": [[\\"a\\", \\"on\\", \\"b\\"]]}"}',
    "objects by their names": '{"objects": [{"a": {"relationships": [{"on": "b"}]}}, {"b": {"size": 1}}]}',
    "several in one item": '{"objects": [{"a": {"relationships": {"b": "on"}}, "b": {"attributes": ["x"]}}]}',
    "objects alone": '{"a": {"attributes": {"x": 1}, "relationships": [{"on": "b"}]}, "b": {"attributes": []}}',
    "a kind as the key": '{"objects": [{"planet": "a", "n": 1}, {"planet": "b", "n": 2}], "edges": [["a", "on", "b"]]}',
    "relations by their nodes": '{"objects": ["a", "b"], "relationships": [{"a": "on b"}]}',
    "a map by node": '{"objects": ["a", "b"], "relationships": {"a": {"on": "b"}}}',
    "other keys for the ends": '{"objects": ["a", "b"], "edges": [{"first_object": "a", "second": "b", "type": "on"}]}',
    "an object and its target": '{"objects": ["a", "b"], "edges": [{"object": "a", "target": "b", "type": "on"}]}',
    "a list of ends": '{"objects": ["a", "b"], "relationships": [{"type": "on", "targets": ["a", "b"]}]}',
    "numbers from 0": '{"nodes": [{"id": 0, "name": "a"}, {"id": 1, "name": "b"}], "edges": [[0, "on", 1]]}',
    "named numbers": '{"objects": [{"id": 1, "name": "a", "relations": {"on": "objectID 2"}}, {"id": 2, "name": "b"}]}',
    "bare objects": '{"name": "a"}\n{"name": "b"}\n{"source": "a", "target": "b", "relation": "on"}',
    "Graphviz": 'digraph G {\n  rankdir=LR;\n  node [shape=box];\n  a; b [label="b"];\n  a -> b [label="on"];\n}',
    "Graphviz with prose behind it": 'digraph { a -> b [label="on"] }\n\nI changed two attributes.',
    "Graphviz in a line": '```dot\ndigraph { "a" -> "b" [label=on, color=red] }\n```',
    "behind a thought": '<think>{"objects": ["x"]}</think>{"objects": ["a", "b"], "edges": [["a", "on", "b"]]}',
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_seen_in_the_wild_is_read(form: str) -> None:
    found, _ = read_graph(FORMS[form])
    assert (names(found), relations(found)) == (["a", "b"], [["a", "on", "b"]])


ONE_SIDED = {
    "a list": '["wet", "at the beach"]',
    "a truth": '{"wet": true, "at the beach": true}',
    "a record": '[{"type": "wet"}, {"predicate": "at the beach"}]',
}


@pytest.mark.parametrize("form", ONE_SIDED)
def test_a_relation_of_one_node_becomes_its_attribute(form: str) -> None:
    found, repairs = read_graph(f'{{"objects": [{{"name": "a", "relationships": {ONE_SIDED[form]}}}]}}')
    assert found.nodes[0].attributes == (("wet", "true"), ("at the beach", "true"))
    assert "one_sided_edge" in repairs


def test_a_record_inside_an_attribute_keeps_what_it_says() -> None:
    text = '{"objects": [{"name": "cake", "attributes": {"on top": [{"name": "rose", "colour": "red"}]}}]}'
    assert read_graph(text)[0].nodes[0].attributes == (("on top", "rose colour red"),)


def test_an_answer_in_json_is_no_graph() -> None:
    assert read_graph('{"answer": "B", "name": "the dog"}')[0] == Graph()


@given(st.text('digraph{}[]->;="\n ab/*'))
def test_any_graphviz_is_read_without_an_error(text: str) -> None:
    read_graph(f"digraph {{ {text}")


def test_long_graphviz_is_read_in_the_time_of_a_quick_test() -> None:
    steps = 4_000
    for piece in ('"', "a -> ", "[", "a [b=", "/*", "a-", "-"):
        read_graph("digraph {" + piece * steps)


ATTRIBUTES = {
    "a map": '"attributes": {"colour": "red", "n": 3}',
    "a list": '"attributes": ["colour: red", "n: 3"]',
    "a list of maps": '"attributes": [{"colour": "red"}, {"n": 3}]',
    "a list of records": '"attributes": [{"name": "colour", "value": "red"}, {"name": "n", "value": 3}]',
    "keys of the object": '"colour": "red", "n": 3',
}


@pytest.mark.parametrize("form", ATTRIBUTES)
def test_attributes_are_read_in_every_form(form: str) -> None:
    (node,) = read_graph(f'{{"objects": [{{"id": 1, "name": "a", {ATTRIBUTES[form]}}}]}}')[0].nodes
    assert node == GraphNode("1", "a", (("colour", "red"), ("n", "3")))


APART = {
    "records": '[{"object": "a", "attribute": "colour", "value": "red"}]',
    "keys of a record": '[{"object": "a", "colour": "red"}]',
    "a map": '{"a": {"colour": "red"}}',
    "a list of maps": '[{"a": {"colour": "red"}}]',
    "a list of objects": '[{"attribute": "colour: red", "objects": ["a"]}]',
}


@pytest.mark.parametrize("form", APART)
def test_attributes_that_stand_apart_go_to_their_objects(form: str) -> None:
    graph, repairs = read_graph(f'{{"objects": ["a"], "attributes": {APART[form]}}}')
    assert graph.nodes == (GraphNode("a", "a", (("colour", "red"),)),)
    assert "nameless_item" not in repairs


def test_an_owner_of_attributes_that_is_not_an_object_yet_becomes_one() -> None:
    graph, repairs = read_graph('{"objects": ["a"], "attributes": [{"object": "b", "colour": "red"}]}')
    assert graph.nodes[1] == GraphNode("b", "b", (("colour", "red"),))
    assert "added_endpoint" in repairs


def test_an_attribute_of_nothing_is_dropped() -> None:
    graph, repairs = read_graph('{"objects": ["a"], "attributes": {"material": "the same for all"}}')
    assert (graph.nodes, "nameless_item" in repairs) == ((GraphNode("a", "a"),), True)


def read_attributes(written: str) -> tuple[tuple[str, str], ...]:
    (node,) = read_graph(f'{{"objects": [{{"name": "a", "attributes": {written}}}]}}')[0].nodes
    return node.attributes


def test_a_word_without_a_value_is_an_attribute() -> None:
    assert read_attributes('["wet"]') == (("wet", "true"),)


def test_a_nested_map_is_an_attribute() -> None:
    assert read_attributes('["wet", {"at": {"x": 1}}]') == (("wet", "true"), ("at.x", "1"))


def test_an_id_is_the_same_as_a_number_or_a_text() -> None:
    text = '{"nodes": [{"id": 1, "name": "a"}], "edges": [{"source": "1", "target": 1, "relation": "is"}]}'
    assert read_graph(text) == (Graph((GraphNode("1", "a"),), (Edge("1", "1", "is"),)), ())


REPAIRS = {
    "shared_id": '{"nodes": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}',
    "duplicate_node": '{"nodes": [{"id": 1, "name": "a"}, {"id": 1, "name": "A"}]}',
    "duplicate_edge": '{"nodes": [{"id": 1, "name": "a"}], "edges": [[1, "is", 1], [1, "is", 1]]}',
    "missing_id": '{"nodes": [{"name": "a"}]}',
    "nameless_item": '{"nodes": [{"id": 1, "name": "a"}, {}]}',
    "unreadable_edge": '{"nodes": [{"id": 1, "name": "a"}], "edges": [{"source": 1}]}',
    "one_sided_edge": '{"nodes": [{"id": 1, "name": "a"}], "edges": [{"source": 1, "relation": "runs"}]}',
    "bare_items": '{"id": 1, "name": "a"}',
    "dot": "graph { a }",
    "added_endpoint": '{"nodes": [{"id": 1, "name": "a"}], "edges": [[1, "on", "b"]]}',
    "dropped_endpoint": '{"nodes": [{"id": 1, "name": "a"}], "edges": [[1, "on", 7]]}',
    "missing_relation": '{"nodes": [{"id": 1, "name": "a"}], "edges": [{"source": 1, "target": 1}]}',
    "several_graphs": '{"nodes": [{"id": 1, "name": "b"}]} then {"nodes": [{"id": 1, "name": "a"}]}',
    "truncated": '{"nodes": [{"id": 1, "name": "a"}',
    "mismatched_bracket": '{"nodes": [{"id": 1, "name": "a"]]}',
    "duplicate_key": '{"nodes": [{"id": 1, "name": "a"}], "nodes": []}',
    "too_deep": '{"nodes": [{"id": 1, "name": "a", "attributes": ' + "[" * 50 + "]" * 50 + "}]}",
}


@pytest.mark.parametrize("repair", REPAIRS)
def test_a_repair_is_reported_by_its_name(repair: str) -> None:
    found, repairs = read_graph(REPAIRS[repair])
    assert (repair in repairs, "a" in names(found)) == (True, True)


def test_two_entities_of_one_name_with_different_ids_stay_two() -> None:
    found, repairs = read_graph('{"nodes": [{"id": 1, "name": "cat"}, {"id": 2, "name": "cat"}]}')
    assert (names(found), repairs) == (["cat", "cat"], ())


def test_an_empty_graph_is_no_prose() -> None:
    assert read_graph('{"nodes": [], "edges": []}') == (Graph(), ())


def test_a_graph_with_a_loose_edge_is_no_graph() -> None:
    with pytest.raises(ValueError, match="joins a node that does not exist"):
        Graph((GraphNode("a", "a"),), (Edge("a", "b", "on"),))


def test_the_notation_of_these_tests_gives_what_it_says() -> None:
    nodes = (GraphNode("dog", "dog", (("colour", "red"),)), GraphNode("cat", "cat"))
    assert graph("dog colour=red, cat", "dog chases cat") == Graph(nodes, (Edge("dog", "cat", "chases"),))
