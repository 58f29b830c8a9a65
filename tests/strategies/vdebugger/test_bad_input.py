"""Whatever programs, critics, refiners and services do, it is a defined event and a best-effort answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyvision.agent.budget import Limits
from pyvision.errors import LimitReached, ModelError
from pyvision.strategies.vdebugger import VDebugger
from pyvision.types import Answer, Reply
from sandbox import Policy, Sandbox
from tests.strategies.vdebugger.running import BAD, GOOD, Stage, program
from tests.strategies.vdebugger.scenes import Broken, Scene, World

QUESTION = "How many cups are there?"
ALONE = VDebugger(mode="none", fallback=False)
FAILURES = {
    "no Python": ("def execute_command(image) -> str:\n    return (", "no_program", "SyntaxError"),
    "a flood and an exception": (
        program("print('x' * 10**6)\nraise ValueError(1)"),
        "error",
        "ValueError: 1",
    ),
    "an endless recursion": (program("def f(n): return f(n + 1)\nreturn f(0)"), "error", "RecursionError"),
    "its own end": (program("import sys\nsys.exit(3)"), "error", "SystemExit"),
    "the end of the kernel": (program("import os\nos._exit(3)"), "died", "KernelDied"),
    "an unreadable exception": (
        program("class E(Exception):\n    def __str__(self): raise ValueError\nraise E()"),
        "error",
        "E",
    ),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_program_that_fails_ends_without_an_answer(stage: Stage, kind: str) -> None:
    code, status, expected = FAILURES[kind]
    answer = stage.solve([code], ALONE)
    assert (answer.text, answer.end_reason) == (None, "no_answer")
    assert expected in (answer.remark or "")
    assert [each["status"] for each in stage.notes("program")] == [status]


RESULTS = {
    "None": ("return None", "returned None"),
    "a huge text": ("return 'x' * 10**6", "a text of 1,000,000 characters"),
    "nothing": ("return '  '", "returned a str"),
    "an array": ("import numpy\nreturn numpy.zeros((3, 3))", "returned a ndarray"),
    "a patch": ("return ImagePatch(image)", "returned a ImagePatch"),
    "no number": ("return float('nan')", "is not a finite number"),
    "an endless number": ("return 10 ** 4000", "more than 30 digits"),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_that_is_not_an_answer_is_named(stage: Stage, kind: str) -> None:
    body, expected = RESULTS[kind]
    answer = stage.solve([program(body)], ALONE)
    assert (answer.text, answer.end_reason) == (None, "no_answer")
    assert expected in (answer.remark or "")


def test_one_element_of_numpy_is_a_number(stage: Stage) -> None:
    assert stage.solve([program("import numpy\nreturn numpy.ones(1)")], ALONE) == Answer("1")


def test_the_program_after_an_endless_one_runs(
    sandbox_of: Callable[[Policy], Sandbox],
) -> None:
    stage = Stage(sandbox_of(Policy(cell_timeout_s=2)))
    endless = program("import time\nwhile True:\n    time.sleep(1)")
    assert stage.solve([endless, "wrong", GOOD, "right"]) == Answer("3")
    assert [each["status"] for each in stage.notes("program")] == ["timeout", "ok"]
    assert "[ran out of time after " in stage.request_text(1)


def test_after_a_dead_kernel_the_next_program_finds_its_functions(stage: Stage) -> None:
    dead = program("import os\nos._exit(3)")
    assert stage.solve([dead, "wrong", GOOD, "right"]) == Answer("3")


def test_a_compile_error_is_in_place_of_the_trace(stage: Stage) -> None:
    stage.solve(["def execute_command(image) -> str:\n    return (", "wrong", GOOD, "right"])
    assert "-> None\n\n--- Trace\n\nCompile Error\nSyntaxError" in stage.request_text(1)


def test_a_plain_question_takes_the_place_of_a_program_that_failed(stage: Stage) -> None:
    stage.world = World(Scene((), {QUESTION: "four"}))
    answer = stage.solve([BAD], VDebugger(mode="none"))
    assert (answer.text, answer.end_reason) == ("four", "answered")
    assert "answer to the plain question" in (answer.remark or "")
    assert "name 'plates' is not defined" in stage.notes("fallback")[0]["why"]


@pytest.mark.parametrize(
    "reply", ["I think there are three.", "", "```python\n```", "```\ndef solve(image):\n    return 1\n```"]
)
def test_a_coder_that_writes_no_program_is_asked_once_more(stage: Stage, reply: str) -> None:
    assert stage.solve([reply, GOOD, "right"]) == Answer("3")
    assert [each["role"] for each in stage.notes("malformed")] == ["coder"]


def test_a_coder_that_never_writes_a_program_ends_without_an_answer(stage: Stage) -> None:
    assert stage.solve(["three", "three"], ALONE) == Answer(None, "no_answer", "no program was written")


def test_a_coder_that_refuses_ends_it(stage: Stage) -> None:
    assert stage.solve([Reply("No.", finish="refusal")]) == Answer(None, "refused", "No.")


VERDICTS = {
    "wrong": ("nothing is marked", []),
    "wrong <<<BUG>>>cups": ("half a mark", []),
    "wrong <<<BUG>>>plates<<<BUG/>>>": (
        "the marked text is not in the program, or occurs more than once",
        [],
    ),
    "wrong <<<BUG>>>'cup'<<<BUG/>>> and <<<BUG>>>str(len(cups))<<<BUG/>>>": (
        "several spans are marked",
        ["'cup'", "str(len(cups))"],
    ),
}


@pytest.mark.parametrize("reply", VERDICTS)
def test_the_refiner_works_without_one_marked_place(stage: Stage, reply: str) -> None:
    fault, spans = VERDICTS[reply]
    other = GOOD.replace("'cup'", "'mug'")
    again = [reply] if fault.startswith(("half", "the marked")) else []
    assert stage.solve([GOOD, reply, *again, other, "right"]) == Answer("0")
    verdict = stage.notes("verdict")[0]
    assert (verdict["fault"], [each["text"] for each in verdict["spans"]]) == (fault, spans)


@pytest.mark.parametrize("reply", ["Hm.", "", "It may be right or wrong.", Reply("No.", finish="refusal")])
def test_a_critic_without_a_verdict_ends_the_search(stage: Stage, reply: str | Reply) -> None:
    assert stage.solve([GOOD, reply, reply]) == Answer("3")
    assert stage.notes("debugging_ended") == [{"why": "unclear", "round": 1}]


@pytest.mark.parametrize("reply", ["I would count again.", Reply("No.", finish="refusal")])
def test_a_refiner_that_writes_no_program_ends_the_search(stage: Stage, reply: str | Reply) -> None:
    assert stage.solve([GOOD, "wrong", reply, reply]) == Answer("3")
    assert stage.notes("debugging_ended") == [{"why": "no_program", "round": 1}]
    assert stage.notes("refused" if isinstance(reply, Reply) else "malformed")


def test_a_service_that_fails_is_an_exception_of_the_program(stage: Stage) -> None:
    stage.tools = {**stage.world.tools, "detect": Broken("detect")}
    asks = program("return ImagePatch(image).simple_query('Is this a cup?')")
    assert stage.solve([GOOD, "wrong", asks, "right"]) == Answer("yes")
    assert stage.notes("program")[0]["error"] == "ServiceError: detect: the service is down"


def test_a_service_that_is_not_there_is_an_exception_of_the_program(stage: Stage) -> None:
    stage.tools = {}
    assert "no tool 'detect' is set up" in (stage.solve([GOOD], ALONE).remark or "")


def test_a_program_cannot_catch_the_end_of_a_budget(stage: Stage) -> None:
    spent = LimitReached("cost_limit", "no money is left")
    stage.tools = {**stage.world.tools, "detect": Broken("detect", spent)}
    caught = program("try:\n    ImagePatch(image).find('cup')\nexcept Exception:\n    return 'caught'")
    with pytest.raises(LimitReached, match="no money"):
        stage.solve([caught])


def test_an_endpoint_that_fails_behind_a_service_ends_the_question(stage: Stage) -> None:
    stage.tools = {**stage.world.tools, "detect": Broken("detect", ModelError("unreachable"))}
    with pytest.raises(ModelError):
        stage.solve([GOOD])


def test_a_budget_that_is_spent_leaves_the_answer_of_the_last_program(stage: Stage) -> None:
    stage.limits = Limits(max_turns=2)
    answer = stage.solve([GOOD, "wrong"])
    assert (answer.text, answer.end_reason) == ("3", "turn_limit")
    assert stage.notes("debugging_ended")[0]["why"] == "limit"


def test_a_question_without_an_image_has_no_program(stage: Stage) -> None:
    assert stage.solve([], images=0).end_reason == "no_answer"
    assert stage.notes("no_image")
