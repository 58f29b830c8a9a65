"""What roles are shown, asked again, and not asked, so that a capable model is not held back."""

from __future__ import annotations

from pathlib import Path

from pyvision.strategies.avis.perception import entity_line
from pyvision.text.prompts import load
from pyvision.types import Observation, Picture
from tests.doubles import png
from tests.strategies.avis.rigs import (
    LOOK_ONLY,
    PARTS,
    QUESTION,
    USEFUL,
    Stage,
    answered,
    boxes,
    hits,
    observation,
)

BRIDGE = {"identical_image": [hits("Orlen Bridge")], "document": [hits("Orlen")]}
LOOK = {"vqa": [observation("answer", "red")]}


def pictures_of(stage: Stage, turn: int) -> list[Picture]:
    (message,) = stage.models["reasoner"].requests[turn][:1]
    return [part for part in message.parts if isinstance(part, Picture)]


# --- the planner


def test_a_planner_may_decide_that_enough_is_known() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search", "Action: answer"],
            "reasoner": [answered("Orlen Bridge"), USEFUL, "Answer: 1871"],
        },
        BRIDGE,
    )
    assert (stage.answer.text, stage.answer.end_reason, stage.answer.remark) == ("1871", "answered", None)
    assert stage.path == ["identical_image_search a", "web_search i"]


def test_a_search_continues_if_too_little_is_known() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search", "Action: answer", "web_search\nQuery: Orlen, built"],
            "reasoner": [answered("Orlen Bridge"), USEFUL, "Answer: unknown", answered("1871")],
        },
        BRIDGE,
    )
    assert stage.notes("not_enough")
    assert "Action: answer" not in stage.request_text("planner", 2)
    assert stage.answer.text == "1871"


def test_enough_is_not_offered_before_the_object_is_known() -> None:
    stage = Stage({"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [answered("red")]}, LOOK)
    assert "Action: answer" not in stage.request_text("planner")


def test_a_planner_without_a_choice_is_not_asked() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871")],
        },
        BRIDGE,
    )
    assert [note["by"] for note in stage.notes("plan")] == ["no choice", "planner"]


def test_the_caption_of_the_first_look_stays_with_the_planner() -> None:
    caption = {"caption": [observation("caption", "A bridge over a river.")]}
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871")],
        },
        {**BRIDGE, **caption},
    )
    assert "A bridge over a river. (Caption, whole image)" in stage.request_text("planner")


# --- the reasoner


def test_an_answerable_question_without_an_answer_is_asked_again() -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": ["Verdict: answerable", answered("red")]},
        LOOK,
    )
    assert stage.answer.text == "red"
    assert "gives no answer" in stage.request_text("reasoner", 1)


def test_an_answer_that_is_never_given_leaves_a_finding() -> None:
    half = "Finding: the kite is red\nVerdict: answerable"
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [half, half, "Answer: red"]}, LOOK
    )
    assert stage.path == ["vqa i"]


def test_the_reasoner_gets_four_visual_examples() -> None:
    stage = Stage({"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [answered("red")]}, LOOK)
    examples = load("avis/reasoner_visual.md").rstrip()
    assert examples.count("\nVerdict: ") == 4
    assert examples in stage.request_text("reasoner")


def test_the_reasoner_gets_five_examples_about_knowledge() -> None:
    assert load("avis/reasoner_knowledge.md").count("\nVerdict: ") == 5


def test_nothing_is_promised_that_no_tool_produces() -> None:
    assert "query suggestion" not in load("avis/reason_visual.md").lower()


def found_file(folder: Path) -> Observation:
    (folder / "orlen.png").write_bytes(png(50, 44, "blue"))
    row = {
        "id": 1,
        "title": "Orlen Bridge",
        "text": "a bridge",
        "score": 0.9,
        "path": str(folder / "orlen.png"),
    }
    missing = {**row, "title": "Lost", "path": str(folder / "lost.png")}
    return Observation("Retrievals: [\n  Orlen Bridge (score=90.0),\n]", {"hits": [missing, row]})


def test_a_reasoner_with_vision_sees_what_was_found_beside_the_image(tmp_path: Path) -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": [], "reasoner": [answered("red")]},
        {"identical_image": [found_file(tmp_path)]},
        reasoner_sees="image",
    )
    looked_up, retrieved = pictures_of(stage, 0)
    assert looked_up == QUESTION.images[0]
    assert (retrieved.width, retrieved.height) == (50, 44)


def test_a_reasoner_reads_text_as_in_the_paper(tmp_path: Path) -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": [], "reasoner": [answered("red")]},
        {"identical_image": [found_file(tmp_path)]},
    )
    assert pictures_of(stage, 0) == []


# --- what is found


def test_a_near_match_is_an_entity_that_says_so() -> None:
    line = entity_line({"title": "Orlen Bridge", "text": "", "score": 0.83, "is_near": True})
    assert line == "near match, not the same: Orlen Bridge (score=83.0)"


def test_the_sources_are_findings() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871")],
        },
        BRIDGE,
    )
    assert [source["title"] for source in stage.findings["sources"]] == ["Orlen Bridge", "Orlen"]


def test_objects_are_described_before_the_search() -> None:
    stage = Stage(
        {"decomposer": [LOOK_ONLY], "planner": ["vqa"], "reasoner": [answered("red")]},
        {**LOOK, "detect": [boxes("kite")]},
    )
    assert "Object #1: kite" in stage.request_text("planner")


def test_an_object_is_looked_up_only_where_a_model_reads_of_it() -> None:
    stage = Stage(
        {
            "decomposer": [PARTS],
            "planner": ["identical_image_search", "web_search"],
            "reasoner": [answered("Orlen Bridge"), answered("1871")],
        },
        {**BRIDGE, "detect": [boxes("bridge", "boat")]},
    )
    assert stage.used == ["detect", "identical_image", "document"]
