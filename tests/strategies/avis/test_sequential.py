"""The fixed sequences of tools: their order, their budget, and the one reply that they end in."""

from __future__ import annotations

import pytest

from pyvision.types import Question
from tests.strategies.avis.rigs import PARTS, Given, Stage, boxes, hits, observation

TOOLS: dict[str, list[Given]] = {
    "caption": [observation("caption", "a bridge and a boat")],
    "vqa": [observation("answer", "a bridge")],
    "detect": [boxes("bridge", "boat")],
    "identical_image": [hits("Orlen Bridge")],
    "similar_image": [hits("Orlen Bridge", "Boats")],
    "document": [hits("Bridges of Orlen")],
}
LOOKED = ["caption", "detect"]
OBJECTS = ["identical_image", "similar_image", *["identical_image", "similar_image"] * 2]


@pytest.mark.parametrize(
    ("mode", "row"),
    [
        ("sequential_vqa", ["vqa"]),
        ("sequential_object", ["vqa", *OBJECTS]),
        ("sequential_object_search", ["vqa", *OBJECTS, "document", "document"]),
    ],
)
def test_a_row_uses_its_tools_in_its_order(mode: str, row: list[str]) -> None:
    stage = Stage({"decomposer": [PARTS], "reasoner": ["Sources: [1]\nAnswer: 1871"]}, TOOLS, mode=mode)
    assert stage.used == [*LOOKED, *row]
    assert stage.answer.text == "1871"
    assert stage.answer.end_reason == "answered"


def test_a_search_is_made_about_every_title_found() -> None:
    stage = Stage(
        {"decomposer": [PARTS], "reasoner": ["Answer: 1871"]}, TOOLS, mode="sequential_object_search"
    )
    asked = [request.text for request in stage.tools["document"].requests]
    assert asked == ["when was Orlen Bridge finished?", "when was Boats finished?"]


def test_a_row_stops_when_its_calls_are_spent() -> None:
    stage = Stage(
        {"decomposer": [PARTS], "reasoner": ["Answer: 1871"]},
        TOOLS,
        mode="sequential_object_search",
        calls=2,
    )
    assert stage.used == [*LOOKED, "vqa", *["identical_image"] * 3]  # two describe objects


def test_only_the_sources_that_the_reply_names_are_cited() -> None:
    stage = Stage(
        {"decomposer": [PARTS], "reasoner": ["Sources: [3], [99]\nAnswer: 1871"]},
        TOOLS,
        mode="sequential_object_search",
    )
    assert [source["title"] for source in stage.notes("answer")[0]["sources"]] == ["Bridges of Orlen"]


def test_a_row_without_an_answer_ends_in_a_best_effort() -> None:
    stage = Stage(
        {"reasoner": ["Let me see: nothing.\nAnswer: unknown", "Answer: 1870"]}, TOOLS, mode="sequential_vqa"
    )
    assert stage.answer.text == "1870"
    assert stage.answer.remark == "best effort: the fixed sequence of tools led to no answer"


@pytest.mark.parametrize(
    ("reply", "answer", "is_last_resort"),
    [("I see it.\n**Final Answer:** 1871", "1871", False), ("1871 it is.", "1871 it is", False)],
)
def test_a_sequence_finds_its_answer_as_every_strategy_does(
    reply: str, answer: str, is_last_resort: bool
) -> None:
    stage = Stage({"reasoner": [reply]}, TOOLS, mode="sequential_vqa")
    assert (stage.answer.text, stage.answer.is_last_resort) == (answer, is_last_resort)


def test_a_sequence_without_an_image_uses_the_tools_that_need_no_image() -> None:
    stage = Stage(
        {"reasoner": ["Answer: 1871"]},
        TOOLS,
        mode="sequential_object_search",
        question=Question("When was Orlen Bridge finished?"),
    )
    assert stage.used == ["document"]
