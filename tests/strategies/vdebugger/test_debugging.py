"""Algorithm 1: programs are run, judged and refined until one is accepted, or the rounds are over."""

from __future__ import annotations

import json

import pytest

from pyvision.errors import ConfigError
from pyvision.strategies.vdebugger import VDebugger
from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.roles import failure_of
from pyvision.types import Answer, Reply, TokenLogprob
from tests.strategies.vdebugger.running import BAD, GOOD, MARKED, Stage, program

OTHER = program("cups = ImagePatch(image).find('cup')\nreturn str(len(cups) + 1)")
THIRD = OTHER.replace("+ 1", "+ 2")


def test_an_accepted_program_is_the_answer(stage: Stage) -> None:
    assert stage.solve([GOOD, "right"]) == Answer("3")
    assert stage.roles == ["coder", "critic"]
    assert stage.notes("debugging_ended") == [{"why": "accepted", "round": 1}]


def test_a_rejected_program_goes_round_the_whole_loop_again(stage: Stage) -> None:
    assert stage.solve([BAD, MARKED, GOOD, "right"]) == Answer("3")
    assert stage.roles == ["coder", "critic", "refiner", "critic"]
    assert [each["status"] for each in stage.notes("program")] == ["error", "ok"]


def test_the_critic_reads_the_whole_case(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"])
    case = stage.request_text(1)
    assert (
        f"# Given an image: How many cups are there?\n{BAD}\n\n-> None\n\n--- Trace\n\ncall         1 def"
        in case
    )
    assert "Exception:..... NameError: name 'plates' is not defined\nCall ended by exception" in case
    assert case.endswith("\n\n# Program is")


def test_the_refiner_reads_the_marked_program(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"])
    assert "return str(len(<<<BUG>>>plates<<<BUG/>>>))" in stage.request_text(2)
    assert stage.request_text(2).endswith("\n\n# Correction")


def test_a_program_that_comes_again_ends_the_search(stage: Stage) -> None:
    assert stage.solve([GOOD, "wrong", f"# the same\n{GOOD}  # really"]) == Answer("3")
    assert stage.notes("debugging_ended") == [{"why": "repeated", "round": 1}]


def test_rounds_that_are_over_end_it_with_the_last_program(stage: Stage) -> None:
    assert stage.solve([GOOD, "wrong", OTHER, "wrong", THIRD], VDebugger(rounds=2)) == Answer("5")
    assert stage.notes("debugging_ended") == [{"why": "rounds", "round": 2}]


def test_every_step_is_an_event_of_plain_values(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"])
    (verdict, accepted), (refinement,) = stage.notes("verdict"), stage.notes("refinement")
    assert verdict["spans"] == [
        {"start": BAD.index("plates"), "end": BAD.index("plates") + 6, "text": "plates"}
    ]
    assert (verdict["verdict"], verdict["accepted"], accepted["accepted"]) == ("wrong", False, True)
    assert refinement["program"].strip() == GOOD
    assert stage.notes("program")[1]["trace"].endswith("Return value:.. '3'")
    json.dumps([verdict, refinement, stage.notes("program")])


def test_without_feedback_every_role_sees_the_program_alone(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"], VDebugger(mode="without_feedback"))
    assert all(
        "--- Trace" not in stage.request_text(turn) and "\n-> " not in stage.request_text(turn)
        for turn in (1, 2, 3)
    )


def test_without_debugging_the_first_program_answers(stage: Stage) -> None:
    assert stage.solve([GOOD], VDebugger(mode="none")) == Answer("3")
    assert not stage.notes("debugging_ended")


def test_the_coder_can_debug_itself(stage: Stage) -> None:
    assert stage.solve([BAD, GOOD, "right"], VDebugger(mode="self_debug")) == Answer("3")
    assert stage.roles == ["coder"] * 3
    assert "Call ended by exception" in stage.request_text(1)


def test_the_first_block_that_is_judged_wrong_is_the_span(stage: Stage) -> None:
    replies = [BAD, "BLOCK 1: wrong, counts plates", GOOD, "BLOCK 1: right"]
    assert stage.solve(replies, VDebugger(mode="per_block", critic_on_error=True)) == Answer("3")
    assert "BLOCK 1\n    cups = " in stage.request_text(1)
    assert "# cups = [ImagePatch(left=10, " in stage.request_text(1)
    assert stage.notes("verdict")[0]["spans"][0]["text"].startswith("cups = ")


def test_trained_models_get_the_bare_case(stage: Stage) -> None:
    stage.solve([BAD, MARKED, GOOD, "right"], VDebugger(style="trained"))
    assert stage.request_text(1).startswith(
        "# Given an image: How many cups are there?\ndef execute_command(image) -> str:"
    )
    assert stage.request_text(2).endswith("\n\n# Correction")


def scored(text: str, right: float, wrong: float) -> Reply:
    token = TokenLogprob(text, right, (("right", right), ("wrong", wrong)))
    return Reply(text, logprobs=(token,))


@pytest.mark.parametrize(("threshold", "accepted"), [(0.5, True), (0.7, False), (None, True)])
def test_the_score_decides_against_the_threshold(
    stage: Stage, threshold: float | None, accepted: bool
) -> None:
    stage.solve([GOOD, scored("right", -0.5, -1.0), GOOD], VDebugger(threshold=threshold))
    (verdict,) = stage.notes("verdict")
    assert verdict["accepted"] is accepted
    assert verdict["score"] == (pytest.approx(0.62246, abs=1e-5) if threshold else None)
    assert stage.model.samplings[1].logprobs is (threshold is not None)


def test_a_constrained_refiner_changes_only_marked_lines(stage: Stage) -> None:
    elsewhere = GOOD.replace("find('cup')", "find('dish')")
    assert stage.solve(
        [BAD, MARKED, elsewhere, "right"], VDebugger(constrain=True, critic_on_error=True)
    ) == Answer("3")
    assert stage.notes("outside_span")


def test_two_images_are_given_by_their_sides(stage: Stage) -> None:
    signature = "def execute_command(image_dict) -> str:"
    body = "sides = {side: len(ImagePatch(image).find('cup')) for side, image in image_dict.items()}\nreturn str(sides)"
    stage.world.scenes = (stage.world.scenes[0],) * 2
    answer = stage.solve([program(body, signature), "right"], text="Both images show three cups.", images=2)
    assert answer == Answer("{'left': 3, 'right': 3}")
    assert signature in stage.request_text(0)


def test_a_box_is_formatted_from_the_top_left(stage: Stage) -> None:
    signature = "def execute_command(image) -> ImagePatch:"
    found = program("return ImagePatch(image).find('cup')[0]", signature)
    assert stage.solve([found, "right"], text="Find the first cup.") == Answer("[10, 90, 60, 150]")


def test_a_box_can_be_formatted_from_the_bottom_left(stage: Stage) -> None:
    found = program("return ImagePatch(image).find('cup')", "def execute_command(image) -> ImagePatch:")
    strategy = VDebugger(form="box", box_origin="bottom-left", crop_margin_px=0)
    assert stage.solve([found, "right"], strategy) == Answer("[20, 116, 50, 156]")


def test_the_margin_of_crops_can_be_chosen(stage: Stage) -> None:
    code = program("return ImagePatch(image).find('cup')[0].width")
    assert stage.solve([code, "right"], VDebugger(crop_margin_px=3)) == Answer("36")


@pytest.mark.parametrize(
    "options", [{"rounds": 0}, {"threshold": 1.0}, {"feedback_chars": 10}, {"crop_margin_px": -1}]
)
def test_an_option_that_cannot_be_used_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=f"option {next(iter(options))} is "):
        VDebugger(**options)  # type: ignore[arg-type]


def test_a_program_that_raised_needs_no_critic(stage: Stage) -> None:
    assert stage.solve([BAD, GOOD, "right"], VDebugger()) == Answer("3")
    assert stage.roles == ["coder", "refiner", "critic"]


def test_the_line_that_raised_is_marked_without_a_critic(stage: Stage) -> None:
    stage.solve([BAD, GOOD, "right"], VDebugger())
    assert "<<<BUG>>>return str(len(plates))<<<BUG/>>>" in stage.request_text(1)


def test_a_program_that_cannot_run_needs_no_critic(stage: Stage) -> None:
    cut = f"```python\n{GOOD.splitlines()[0]}\n    return (\n```"
    assert stage.solve([cut, GOOD, "right"], VDebugger()) == Answer("3")
    assert "It fails: " in stage.request_text(1)


def test_a_function_that_failed_is_for_the_critic_to_judge() -> None:
    failed = Execution(GOOD, "error", error="ServiceError: no answer", line=2, failures=("find: no answer",))
    assert failure_of(failed) is None
