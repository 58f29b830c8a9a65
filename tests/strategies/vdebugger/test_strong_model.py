"""What roles are shown and asked again, so that a capable model is not held back by the form."""

from __future__ import annotations

import pytest

from pyvision.errors import ConfigError
from pyvision.strategies.vdebugger import VDebugger
from pyvision.strategies.vdebugger.execution import Services
from pyvision.strategies.vdebugger.roles import api_text, examples_of
from pyvision.strategies.vdebugger.verdicts import prose_of
from pyvision.types import Answer, Ask, Observation, Picture, ToolRequest
from tests.doubles import figure
from tests.strategies.vdebugger.running import BAD, GOOD, MARKED, Stage, program
from tests.strategies.vdebugger.test_services import Gives, services

ASKS = program("return ImagePatch(image).find('cup')[0].simple_query('Is this a cup?')")
RIGHT = "The functions themselves are correct"


class Fails:
    """A tool whose service is down."""

    name, purpose = "detect", "fails"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        return Observation(error="the service is down")


class Ranks(Gives):
    """A tool that scores texts with a network."""

    is_measured = True


def pictures_of(stage: Stage, turn: int) -> list[Picture]:
    return [part for part in stage.model.requests[turn][-1].parts if isinstance(part, Picture)]


# --- a property


def test_a_property_is_asked_of_a_chat_model_as_one_question() -> None:
    tool = Gives("verify", {"holds": True})
    assert services(tool).verify(figure(), "triangle", "green") is True
    assert (tool.requests[0].text, tool.requests[0].options) == ("triangle", {"property": "green"})


def test_a_property_is_ranked_by_a_network_that_scores() -> None:
    verify, match = Gives("verify", {"holds": True}), Ranks("match", {"scores": [1.0]})
    asked = services(verify)
    asked._episode.tools.update({"match": match})  # type: ignore[attr-defined]
    assert asked.verify(figure(), "triangle", "green") is None
    assert verify.requests == []


def test_a_program_takes_the_answer_to_the_question(stage: Stage) -> None:
    stage.tools = {**stage.world.tools, "verify": Gives("verify", {"holds": False})}
    code = program("return ImagePatch(image).verify_property('cup', 'red')")
    assert stage.solve([code, "right"]) == Answer("no")


def test_the_record_says_how_a_property_was_verified(stage: Stage) -> None:
    stage.tools = {**stage.world.tools, "verify": Gives("verify", {"holds": False})}
    stage.solve([program("return ImagePatch(image).verify_property('cup', 'red')"), "right"])
    assert stage.notes("program")[0]["verified_by"] == "one question each"


# --- what the roles see


def test_a_critic_sees_no_image_as_in_the_paper(stage: Stage) -> None:
    stage.solve([ASKS, "right"])
    assert pictures_of(stage, 1) == []


def test_a_critic_that_sees_gets_the_image_with_the_parts_that_were_asked_about(stage: Stage) -> None:
    stage.solve([ASKS, "right"], VDebugger(critic_sees="image"))
    whole, part = pictures_of(stage, 1)
    assert whole == stage.world.picture(0)
    assert (part.width, part.height) == (50, 60)
    assert "Part 1: vqa Is this a cup? -> yes" in stage.request_text(1)


def test_a_refiner_sees_what_the_critic_sees(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"], VDebugger(critic_sees="image", critic_on_error=True))
    assert len(pictures_of(stage, 2)) == 1


def test_a_trained_critic_cannot_be_shown_images() -> None:
    with pytest.raises(ConfigError, match="critic_sees"):
        VDebugger(critic_sees="image", style="trained")


def test_functions_are_called_correct_if_no_function_failed(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"])
    assert RIGHT in stage.request_text(1)


def test_functions_are_not_called_correct_where_one_failed(stage: Stage) -> None:
    stage.tools = {**stage.world.tools, "detect": Fails()}
    stage.solve([GOOD, "wrong", ASKS, "right"])
    for turn in (1, 2):
        assert RIGHT not in stage.request_text(turn)
        assert "a function failed, which may not be the program's fault: detect: the service is down" in (
            stage.request_text(turn)
        )


def test_the_prose_of_a_critic_without_a_mark_reaches_the_refiner(stage: Stage) -> None:
    stage.solve([BAD, "wrong\nIt counts plates, which nothing defines.", GOOD, "right"])
    assert "It counts plates, which nothing defines." in stage.request_text(2)


def test_a_marked_program_comes_without_the_prose(stage: Stage) -> None:
    stage.solve([BAD, f"{MARKED}\n\nIt counts plates.", GOOD, "right"])
    assert "It counts plates." not in stage.request_text(2)


def test_prose_is_what_is_neither_verdict_nor_program() -> None:
    assert (
        prose_of(f"Wrong: it is off by one.\n```python\n{GOOD}\n```\nTry again.")
        == "it is off by one. Try again."
    )
    assert prose_of(f"wrong\n{GOOD}") == ""


# --- only what there is


def test_functions_without_a_tool_are_not_offered() -> None:
    shown = api_text(("detect", "vqa"))
    assert "def simple_query" in shown
    for name in ("compute_depth", "best_text_match", "best_image_match", "verify_property", "llm_query"):
        assert name not in shown


def test_the_functions_that_are_offered_are_python() -> None:
    compile(api_text(("vqa",)), "api", "exec")


def test_examples_use_only_what_is_offered() -> None:
    assert "compute_depth" in examples_of("vqa")
    assert "compute_depth" not in examples_of("vqa", ("detect", "vqa", "match", "verify", "llm_qa"))


def test_a_coder_is_offered_what_is_set_up(stage: Stage) -> None:
    stage.tools = {name: tool for name, tool in stage.world.tools.items() if name != "depth"}
    stage.solve([GOOD, "right"])
    assert "compute_depth" not in stage.request_text(0)


# --- refusals, and replies that cannot be used


def test_a_refusal_in_words_is_a_refusal_of_the_coder(stage: Stage) -> None:
    answer = stage.solve(["I'm sorry, but I can't help with that."])
    assert (answer.text, answer.end_reason) == (None, "refused")


def test_an_unclear_critic_is_asked_again_with_what_was_missing(stage: Stage) -> None:
    assert stage.solve([GOOD, "Hm.", "right"]) == Answer("3")
    assert "it says neither right nor wrong" in stage.request_text(2)
    assert stage.notes("debugging_ended") == [{"why": "accepted", "round": 1}]


def test_a_mark_that_cannot_be_placed_is_asked_for_again(stage: Stage) -> None:
    stage.solve([BAD, "wrong <<<BUG>>>dishes<<<BUG/>>>", MARKED, GOOD, "right"])
    assert stage.notes("verdict")[0]["spans"][0]["text"] == "plates"


def test_a_refiner_without_a_program_is_asked_again(stage: Stage) -> None:
    assert stage.solve([BAD, MARKED, "Count the cups.", GOOD, "right"]) == Answer("3")


def test_a_trained_critic_is_not_asked_again(stage: Stage) -> None:
    stage.solve([GOOD, "Hm."], VDebugger(style="trained"))
    assert stage.notes("debugging_ended") == [{"why": "unclear", "round": 1}]


def test_the_kind_of_question_is_recorded(stage: Stage) -> None:
    stage.solve([GOOD, "right"], text="Find the perimeter of the table.")
    assert stage.notes("form") == [{"form": "vqa", "why": "a value is asked for, not a place"}]


def test_a_replay_without_recorded_questions_ranks() -> None:
    from pyvision.runs.replay.rerun import RecordedTools

    assert Services(RecordedTools([])).verify(figure(), "cup", "red") is None


def test_the_boxes_that_a_program_found_are_recorded_from_the_top_left(stage: Stage) -> None:
    stage.solve([GOOD, "right"])
    boxes = stage.notes("program")[0]["boxes"]
    assert [(box["image"], box["label"], box["box"]) for box in boxes] == [
        ("image_clue_0", "cup", [20.0 + 60 * at, 100.0, 50.0 + 60 * at, 140.0]) for at in range(3)
    ]


def test_the_last_program_is_a_finding(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"])
    assert stage.findings["program"] == GOOD
    assert len(stage.findings["boxes"]) == 3


def test_a_program_after_an_apology_is_a_program(stage: Stage) -> None:
    apology = f"Sorry, I cannot be sure of the form, but here it is:\n```python\n{GOOD}\n```"
    assert stage.solve([apology, "right"]) == Answer("3")


def test_a_coder_that_declines_ends_the_question(stage: Stage) -> None:
    assert stage.solve(["I'm sorry, but I can't help with that."]).end_reason == "refused"
