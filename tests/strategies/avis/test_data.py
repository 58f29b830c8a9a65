"""Graph, examples and the lines of the context are data: the shipped ones hold, broken ones are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.strategies.avis.actions import (
    ACTIONS,
    START,
    examples_to_show,
    load_examples,
    purposes,
    tool_of,
)
from pyvision.strategies.avis.perception import block, caption_line, entity_line, location, text_line
from pyvision.strategies.avis.transition_graph import complete_graph, load_graph, read_graph


def test_the_graph_starts_with_what_looks_at_the_picture() -> None:
    graph = load_graph(None)
    assert graph.after(START) == ("vqa", "object_select", "identical_image_search")
    assert all(graph.after(action) for action in ACTIONS)


def test_every_action_can_be_reached() -> None:
    graph = load_graph(None)
    reached, waiting = {START}, [START]
    while waiting:
        for action in graph.after(waiting.pop()):
            if action not in reached:
                reached.add(action)
                waiting.append(action)
    assert reached == {START, *ACTIONS}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not valid JSON"),
        ("[]", "a graph is a JSON object"),
        ("{}", "no action follows START"),
        ('{"START": []}', "no action follows START"),
        ('{"START": "vqa"}', "the value of 'START' must be a list of actions"),
        ('{"START": ["telescope"]}', "unknown action 'telescope' after 'START'"),
        ('{"START": ["vqa"], "END": []}', "unknown state 'END'"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_graph_that_cannot_be_used_is_named(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"mine\.json: .*{why}"):
        read_graph(text, "mine.json")


@given(st.dictionaries(st.sampled_from(list(ACTIONS)), st.lists(st.sampled_from(list(ACTIONS)))))
def test_a_graph_is_read_back_with_each_action_once(successors: dict[str, list[str]]) -> None:
    graph = read_graph(json.dumps({START: ["vqa"], **successors}), "mine")
    assert {s: list(graph.after(s)) for s in successors} == {
        s: list(dict.fromkeys(a)) for s, a in successors.items()
    }


def test_without_a_graph_every_action_follows_every_state() -> None:
    assert set(complete_graph().after("llm_qa")) == set(ACTIONS)


def test_there_are_four_examples_of_our_own_for_every_action() -> None:
    pools = load_examples(None)
    assert all(len(pools[action]) >= 4 for action in ACTIONS)
    assert len({example.query + example.context for pool in pools.values() for example in pool}) >= 24


def test_examples_of_what_can_be_done_now_are_shown() -> None:
    text = examples_to_show(load_examples(None), ["vqa"], 2)
    assert text.count("Action: vqa") == 2
    assert "web_search" not in text


def test_a_folder_of_examples_takes_the_place_of_ours(tmp_path: Path) -> None:
    line = json.dumps({"query": "q", "context": "c", "action": "vqa"})
    (tmp_path / "vqa.jsonl").write_text(f"\n{line}\n")
    pools = load_examples(tmp_path)
    assert [example.query for example in pools["vqa"]] == ["q"]
    assert pools["llm_qa"] == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 2: not valid JSON"),
        ("3", "line 2: an example must be an object with the texts"),
        ('{"query": "q", "context": 1, "action": "vqa"}', "line 2: an example must be an object"),
        ('{"query": "q", "context": "c", "action": "llm_qa"}', "line 2: the action is 'llm_qa'"),
    ],
)
def test_an_example_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "vqa.jsonl").write_text("\n" + line)
    with pytest.raises(ConfigError, match=why):
        load_examples(tmp_path)


def test_every_action_has_its_purpose_in_one_line() -> None:
    assert set(purposes()) == set(ACTIONS)
    assert all("\n" not in purpose for purpose in purposes().values())


def test_web_search_falls_back_to_the_own_collection() -> None:
    assert tool_of("web_search", ("document", "web_search")) == "web_search"
    assert tool_of("web_search", ("document",)) == "document"
    assert tool_of("web_search", ()) is None


@pytest.mark.parametrize(
    ("x", "y", "name"),
    [
        (0.1, 0.1, "upper left"),
        (0.5, 0.5, "center"),
        (0.9, 0.9, "lower right"),
        (0.5, 0.99, "lower center"),
        (0.0, 0.5, "center left"),
        (1.0, 0.0, "upper right"),
    ],
)
def test_a_place_has_the_name_of_its_ninth(x: float, y: float, name: str) -> None:
    assert location(x, y) == name


def test_the_lines_of_a_context_have_the_forms_of_the_paper() -> None:
    assert caption_line("a bridge", "whole image") == "a bridge (Caption, whole image)"
    assert text_line("OPEN", 1.0) == "Extracted Text: OPEN (score=100.0)"
    hit = {"title": "Orlen Bridge", "text": "A bridge in Velt. It is old.", "score": 0.919}
    assert entity_line(hit) == "Orlen Bridge: A bridge in Velt (score=91.9)"
    assert entity_line({"title": "Orlen Bridge"}) == "Orlen Bridge"
    assert block("Object #1", ["a", "b"]) == "Object #1 [\n  a,\n  b,\n]"
