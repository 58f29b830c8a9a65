"""The walk: phases, exclusions, going back, the budget and the sources of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.agent.budget import Limits
from pyvision.text.prompts import load
from pyvision.types import Question
from tests.doubles import picture
from tests.strategies.avis.rigs import (
    LOOK_ONLY,
    NOTHING,
    PARTS,
    QUESTION,
    USEFUL,
    Stage,
    answered,
    boxes,
    hits,
    observation,
)

CHOICE = {"vqa": [observation("answer", "a bridge")]}  # so that the planner has one


def test_the_visual_question_is_answered_before_the_knowledge_question_is_asked() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", "Action: web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871")],
        },
        {"identical_image": [hits("Orlen Bridge")], "document": [hits("Bridges of Orlen")], **CHOICE},
    )
    assert stage.answer.text == "1871"
    assert stage.answer.end_reason == "answered"
    assert "<query>\nwhich bridge is this?\n" in stage.request_text("planner")
    assert "<query>\nwhen was Orlen Bridge finished?\n" in stage.request_text("planner", 1)
    assert stage.tools["document"].requests[0].text == "when was Orlen Bridge finished?"
    assert stage.notes("visual_answer")[0]["query"] == "when was Orlen Bridge finished?"


def test_an_answer_names_what_it_rests_on() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", "web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871", "Sources: [3]\n")],
        },
        {"identical_image": [hits("Orlen Bridge")], "document": [hits("Rivers", "Bridges of Orlen")]},
    )
    (note,) = stage.notes("answer")
    assert note == {
        "answer": "1871",
        "sources": [
            {"number": 1, "title": "Orlen Bridge", "address": "orlen bridge"},
            {"number": 3, "title": "Bridges of Orlen", "address": "bridges of orlen"},
        ],
        "steps": [1, 2],
        "forced": False,
    }
    assert "[2] Rivers (rivers)\n[3] Bridges of Orlen (bridges of orlen)" in stage.request_text("reasoner", 1)


def test_a_question_that_looking_answers_ends_after_the_visual_phase() -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [answered("red")]},
        {"vqa": [observation("answer", "red")]},
    )
    assert stage.answer.text == "red"
    assert stage.path == ["vqa a"]


def test_an_action_that_brought_nothing_is_not_offered_again_in_this_state() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["vqa", "identical_image_search", "web_search"],
            "reasoner": [NOTHING, answered("Orlen Bridge"), answered("1871")],
        },
        {"vqa": [observation("answer", "a bridge")], "identical_image": [hits("A")], "document": [hits("B")]},
    )
    assert "- vqa:" in stage.request_text("planner", 0)
    assert "- vqa:" not in stage.request_text("planner", 1)
    assert stage.answer.text == "1871"


def test_an_exclusion_ends_with_the_visit() -> None:
    """After another state brought something, what failed before may be tried there."""
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": [
                "identical_image_search",
                "web_search",
                "llm_qa",
                "web_search\nQuery: finished Orlen",
            ],
            "reasoner": [answered("Orlen Bridge"), NOTHING, USEFUL, answered("1871")],
        },
        {
            "identical_image": [hits("Orlen Bridge")],
            "document": [hits("Fish"), hits("Orlen")],
            "llm_qa": [observation("answer", "bridges have builders")],
        },
    )
    assert stage.path == ["identical_image_search a", "web_search n", "llm_qa i", "web_search a"]
    assert stage.notes("plan")[3]["excluded"] == []


def _vqa_then_search(folder: Path) -> Path:
    """The default graph, without a way from vqa to an object."""
    graph = json.loads(load("avis/graph.json")) | {"vqa": ["llm_qa", "web_search"]}
    (folder / "graph.json").write_text(json.dumps(graph))
    return folder / "graph.json"


def test_what_led_to_a_state_with_nothing_left_is_excluded(tmp_path: Path) -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["vqa", "web_search", "identical_image_search", "web_search\nQuery: Orlen Bridge"],
            "reasoner": [answered("Wrong Bridge"), NOTHING, answered("Orlen Bridge"), answered("1871")],
        },
        {
            "vqa": [observation("answer", "Wrong Bridge")],
            "identical_image": [hits("Orlen Bridge")],
            "document": [hits("Fish"), hits("Orlen")],
            "detect": [boxes("bridge")],
        },
        graph=_vqa_then_search(tmp_path),
    )
    assert stage.notes("backtrack") == [
        {"from": "vqa", "to": "START", "why": "no action is left to try there"}
    ]
    third = stage.notes("plan")[2]
    assert (third["state"], third["excluded"]) == ("START", ["vqa"])
    assert "Wrong Bridge" not in stage.request_text("planner", 2)
    assert "<query>\nwhich bridge is this?\n" in stage.request_text("planner", 2)
    assert stage.answer.text == "1871"


def test_a_last_answer_rests_on_the_furthest_visit() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["vqa", "web_search"],
            "reasoner": [answered("Orlen Bridge"), NOTHING, "Answer: 1871"],
        },
        {"vqa": [observation("answer", "Orlen Bridge")], "document": [hits("Fish")]},
    )
    assert stage.notes("backtrack")
    last = stage.request_text("reasoner", 2)
    assert "<query>\nwhen was Orlen Bridge finished?\n</query>" in last
    assert "- it is Orlen Bridge" in last
    assert stage.notes("answer")[0]["steps"] == [1]


def test_without_backtracking_a_dead_end_ends_the_walk() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["vqa", "web_search"],
            "reasoner": [answered("Wrong Bridge"), NOTHING, "Answer: 1900"],
        },
        {
            "vqa": [observation("answer", "Wrong Bridge")],
            "identical_image": [hits("Orlen Bridge")],
            "document": [hits("Fish")],
        },
        mode="no_backtracking",
    )
    assert stage.notes("backtrack") == []
    assert stage.answer.text == "1900"
    assert stage.answer.remark == "best effort: no action is left to try"


def test_of_object_select_only_the_object_is_excluded() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["object_select", "object_select", "web_search"],
            "selector": ["Object: 1", "it is the one that is left.\nObject: 2"],
            "reasoner": [NOTHING, answered("Orlen Bridge"), answered("1871")],
        },
        {"detect": [boxes("boat", "bridge", "tree")], "document": [hits("Orlen")]},
    )
    assert "Object #1 [\n  boat (Caption, upper left),\n]" in stage.request_text("selector", 0)
    assert "Object #1" not in stage.request_text("selector", 1)
    assert stage.notes("plan")[1]["rejected"] == [1]
    assert stage.answer.text == "1871"


def test_going_back_to_object_select_rejects_the_object_that_led_astray() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": [
                *("object_select", "image_search", "web_search"),
                *("object_select", "image_search", "web_search"),
            ],
            "selector": ["Object: 1", "Object: 2"],
            "reasoner": [USEFUL, NOTHING, NOTHING, USEFUL, answered("Orlen Bridge"), answered("1871")],
        },
        {
            "detect": [boxes("boat", "bridge")],
            "similar_image": [hits("Boats"), hits("Orlen Bridge")],
            "document": [hits("Fish"), hits("Orlen")],
        },
    )
    assert stage.answer.text == "1871"
    assert [note["to"] for note in stage.notes("backtrack")] == ["START"]
    assert [n["rejected"] for n in stage.notes("plan") if n["state"] == "START"] == [[], [1]]


def test_the_chosen_object_is_what_image_search_looks_up() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["object_select", "image_search", "web_search"],
            "selector": ["It stands in the middle.\nObject: 2"],
            "reasoner": [USEFUL, answered("Orlen Bridge"), answered("1871")],
        },
        {
            "detect": [boxes("boat", "bridge")],
            "similar_image": [hits("Orlen Bridge")],
            "document": [hits("O")],
        },
    )
    seen = stage.tools["similar_image"].requests[0].picture
    assert seen is not None
    assert (seen.width, seen.height) == (18, 12)
    assert "chosen object #2: It stands in the middle." in stage.request_text("reasoner", 1)


def test_the_same_search_is_not_made_twice() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", "web_search", "web_search", "llm_qa"],
            "reasoner": [answered("Orlen Bridge"), USEFUL, answered("1871")],
        },
        {
            "identical_image": [hits("Orlen Bridge")],
            "document": [hits("Orlen")],
            "llm_qa": [observation("answer", "1871")],
            **CHOICE,
        },
    )
    assert len(stage.tools["document"].requests) == 1
    why = "web_search was already asked this: when was Orlen Bridge finished?"
    assert stage.notes("malformed") == [{"role": "planner", "why": why}]
    assert stage.answer.text == "1871"


def test_a_planner_that_insists_on_the_same_search_loses_it_for_this_visit() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search"] * 3,
            "reasoner": [answered("Orlen Bridge"), USEFUL, "Answer: 1871"],
        },
        {"identical_image": [hits("Orlen Bridge")], "document": [hits("Orlen")]},
    )
    assert [note["action"] for note in stage.notes("repeated")] == ["web_search"]
    assert [note["from"] for note in stage.notes("backtrack")] == ["web_search", "identical_image_search"]
    assert stage.answer.text == "1871"


def test_when_all_calls_are_spent_the_best_answer_is_given() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", "web_search"],
            "reasoner": [answered("Orlen Bridge"), USEFUL, "Answer: about 1870"],
        },
        {"identical_image": [hits("Orlen Bridge")], "document": [hits("Orlen")]},
        calls=2,
    )
    assert (stage.answer.text, stage.answer.end_reason) == ("about 1870", "tool_limit")
    assert stage.answer.remark == "best effort: all 2 tool calls are spent; allow more with --set calls=N"
    assert stage.notes("forced")[0]["end_reason"] == "tool_limit"
    assert stage.notes("answer")[0]["forced"] is True
    assert "it says something" in stage.request_text("reasoner", 2)


@pytest.mark.parametrize("turns", range(2, 9))
def test_the_last_reply_of_the_budget_is_the_best_answer(turns: int) -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", *["web_search"] * 4],
            "reasoner": [answered("Orlen Bridge")] + [answered("x")] * 3,
        },
        {"identical_image": [hits("Orlen Bridge")], "document": [hits("Orlen")]},
        limits=Limits(max_turns=turns),
    )
    assert stage.answer.text is not None
    assert (stage.answer.remark or "").startswith("best effort") == (turns < 6)


def test_without_a_picture_the_question_is_knowledge_only() -> None:
    stage = Stage(
        {"planner": ["web_search"], "reasoner": [answered("1871")]},
        {"vqa": [observation("answer", "?")], "document": [hits("Orlen")]},
        question=Question("When was Orlen Bridge finished?"),
    )
    assert stage.answer.text == "1871"
    assert stage.notes("no_image")
    assert "- vqa:" not in stage.request_text("planner")


def test_of_several_pictures_the_first_is_looked_at() -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [answered("red")]},
        {"vqa": [observation("answer", "red")]},
        question=Question("What colour?", (picture(20, 20), picture(30, 30))),
    )
    assert stage.notes("first_image_only")
    seen = stage.tools["vqa"].requests[0].picture
    assert seen is not None
    assert seen.width == 20


def test_the_choices_stand_below_the_last_question_only() -> None:
    question = Question("When was it finished?", QUESTION.images, choices=("1871", "1900"))
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["vqa", "web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("A")],
        },
        {"vqa": [observation("answer", "Orlen Bridge")], "document": [hits("Orlen")]},
        question=question,
    )
    assert "A. 1871" not in stage.request_text("reasoner", 0)
    assert "when was Orlen Bridge finished?\nA. 1871\nB. 1900" in stage.request_text("reasoner", 1)
