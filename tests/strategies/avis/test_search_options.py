"""What the options, an ablation, or a collection that knows the object change in the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.strategies.avis import Avis
from pyvision.types import Question
from tests.strategies.avis.rigs import (
    NOTHING,
    PARTS,
    USEFUL,
    Stage,
    answered,
    boxes,
    hits,
    observation,
)
from tests.strategies.avis.test_search import CHOICE


def test_a_configured_web_search_uses_the_web() -> None:
    stage = Stage(
        {"planner": ["web_search"], "reasoner": [answered("1871")]},
        {"document": [hits("Mine")], "web_search": [hits("Theirs")]},
        question=Question("When?"),
    )
    assert stage.used == ["web_search"]


def test_without_the_graph_every_action_is_offered() -> None:
    stage = Stage(
        {"decomposer": [PARTS], "planner": ["llm_qa"], "reasoner": ["Answer: Orlen", answered("1871")]},
        {
            "vqa": [observation("answer", "?")],
            "llm_qa": [observation("answer", "Orlen")],
            "document": [hits("O")],
        },
        use_graph=False,
        calls=1,
    )
    assert stage.notes("plan")[0]["feasible"] == ["vqa", "web_search", "llm_qa"]
    assert "What others did" not in stage.request_text("planner")


@pytest.mark.parametrize(
    ("group", "gone"),
    [
        ("vqa", {"vqa", "caption"}),
        ("object", {"detect", "identical_image", "similar_image"}),
        ("search", {"document", "web_search"}),
    ],
)
def test_a_group_that_is_taken_away_is_never_used(group: str, gone: set[str]) -> None:
    tools = {
        "caption": [observation("caption", "a bridge")],
        "vqa": [observation("answer", "a bridge")],
        "detect": [boxes("bridge")],
        "identical_image": [hits("Orlen Bridge")],
        "similar_image": [hits("Orlen Bridge")],
        "document": [hits("Orlen")],
        "web_search": [hits("Orlen")],
        "llm_qa": [observation("answer", "old")],
    }
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["?"] * 40,
            "selector": ["Object: 1"] * 9,
            "reasoner": [USEFUL + "\nAnswer: 1871"] * 14,
        },
        tools,
        without=group,
        calls=5,
    )
    assert not gone & set(stage.used)
    assert stage.answer.text is not None


def test_options_that_make_no_sense_are_named() -> None:
    with pytest.raises(ConfigError) as caught:
        Avis(graph=Path("nowhere.json"))
    message = "option graph: 'nowhere.json' cannot be read (No such file or directory); give a JSON file"
    assert str(caught.value) == message
    with pytest.raises(ConfigError, match="option examples: 'nowhere' is not a folder; give one that"):
        Avis(examples=Path("nowhere"))


SAVING = {"decomposer": [PARTS], "reasoner": [answered("Orlen Bridge"), answered("1871")]}


def test_an_object_that_the_collection_knows_is_selected_first() -> None:
    tools = {
        "detect": [boxes("bridge")],
        "identical_image": [hits("Orlen Bridge")],
        "document": [hits("Orlen")],
    }
    stage = Stage(SAVING, {**tools, **CHOICE}, saves_calls=True)
    assert stage.path == ["object_select a", "web_search a"]
    assert [note["by"] for note in stage.notes("plan")] == ["first step", "first step"]
    assert stage.answer.text == "1871"


def test_a_planner_chooses_the_first_step_where_the_collection_knows_no_object() -> None:
    tools = {"detect": [boxes("bridge")], "identical_image": [hits(), hits("Orlen Bridge")]}
    roles = {**SAVING, "planner": ["identical_image_search"]}
    stage = Stage(roles, {**tools, "document": [hits("Orlen")], **CHOICE}, saves_calls=True)
    assert [note["by"] for note in stage.notes("plan")] == ["planner", "first step"]


def test_a_single_object_is_chosen_without_a_selector() -> None:
    roles = {**SAVING, "planner": ["object_select"]}
    tools = {"detect": [boxes("bridge")], "document": [hits("Orlen")], **CHOICE}
    stage = Stage(roles, tools, saves_calls=True)
    assert stage.path == ["object_select a", "web_search a"]


def test_the_knowledge_question_itself_is_searched_for_first() -> None:
    roles = {**SAVING, "planner": ["vqa"]}
    tools = {"vqa": [observation("answer", "Orlen Bridge")], "document": [hits("Orlen")], **IDENTIFYING}
    stage = Stage(roles, tools, saves_calls=True)
    assert stage.tools["document"].requests[0].text == "when was Orlen Bridge finished?"
    assert [note["by"] for note in stage.notes("plan")] == ["planner", "first step"]


IDENTIFYING = {"identical_image": [hits("Orlen Bridge")], "llm_qa": [observation("answer", "1871")]}


def test_steps_that_identify_are_not_offered_after_the_visual_question() -> None:
    roles = {
        "decomposer": [PARTS],
        "planner": ["identical_image_search", "llm_qa"],
        "reasoner": [answered("Orlen Bridge"), NOTHING, answered("1871")],
    }
    tools = {"detect": [boxes("bridge")], "document": [hits("Fish")], **CHOICE}
    stage = Stage(
        roles, {**tools, **IDENTIFYING, "identical_image": [hits(), hits("Orlen")]}, saves_calls=True
    )
    assert "object_select" in stage.notes("plan")[0]["feasible"]
    assert stage.notes("plan")[2]["feasible"] == ["llm_qa"]


@pytest.mark.parametrize(("again", "uses"), [("orlen  BRIDGE", 1), ("Brenn Bridge", 2)])
def test_a_visual_answer_that_led_nowhere_is_not_followed_again(again: str, uses: int) -> None:
    roles = {
        "decomposer": [PARTS],
        "planner": ["identical_image_search", "vqa", "hm", "hm"],
        "reasoner": [answered("Orlen Bridge"), NOTHING, answered(again), NOTHING, "Answer: 1871"],
    }
    tools = {**CHOICE, "identical_image": [hits("Orlen Bridge")], "document": [hits("Fish")]}
    stage = Stage(roles, tools, saves_calls=True)
    assert len(stage.tools["document"].requests) == uses
