"""Requests that are spared: a refiner beside a critic that corrects, and a critic of what is certainly wrong."""

from __future__ import annotations

from contextlib import closing

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.models.scripted import Scripted
from pyvision.strategies.vdebugger import VDebugger
from pyvision.strategies.vdebugger.verdicts import split_correction
from pyvision.types import Answer, Question, Reply
from tests.strategies.vdebugger.running import GOOD, Stage, program

WRONG = program("plates = ImagePatch(image).find('plate')\nreturn str(len(plates))")
CUPS = program("cups = ImagePatch(image).find('cup')\nreturn str(len(cups) + 1)")
MARKED = "wrong\n" + WRONG.replace("'plate'", "<<<BUG>>>'plate'<<<BUG/>>>")
CORRECTED = f"{MARKED}\n\n# Correction\n```python\n{GOOD}\n```"
ONE_REPLY = VDebugger(critic_on_error=True)


def roles_of(stage: Stage, *replies: str | Reply, strategy: VDebugger = ONE_REPLY) -> list[str]:
    assert stage.solve([WRONG, *replies], strategy) == Answer("3")
    return stage.roles


def test_a_correction_in_the_critics_reply_spares_the_refiner(stage: Stage) -> None:
    assert roles_of(stage, CORRECTED, "right") == ["coder", "critic", "critic"]


def test_the_mark_beside_a_correction_is_recorded(stage: Stage) -> None:
    roles_of(stage, CORRECTED, "right")
    first = stage.notes("verdict")[0]
    assert ([span["text"] for span in first["spans"]], first["corrected"]) == (["'plate'"], True)


def test_a_correction_without_a_mark_is_used(stage: Stage) -> None:
    assert roles_of(stage, f"wrong\n\n## Corrected program:\n{GOOD}", "right") == [
        "coder",
        "critic",
        "critic",
    ]


@pytest.mark.parametrize(
    "reply",
    [
        MARKED,
        f"{MARKED}\n\n# Correction\nCount the cups instead.",
        f"{MARKED}\n\n# Correction\n```python\n{GOOD}[\n```",
        Reply(CORRECTED, finish="length"),
    ],
    ids=["none", "prose", "not Python", "cut"],
)
def test_the_refiner_is_asked_where_the_reply_has_no_new_program(stage: Stage, reply: str | Reply) -> None:
    assert roles_of(stage, reply, GOOD, "right") == ["coder", "critic", "refiner", "critic"]


def test_a_correction_that_changes_nothing_ends_the_criticism(stage: Stage) -> None:
    stage.solve([GOOD, f"wrong\n\n# Correction\n```python\n{GOOD}\n```"], ONE_REPLY)
    assert (stage.roles, stage.notes("debugging_ended")[0]["why"]) == (["coder", "critic"], "repeated")


def test_a_correction_beside_an_acceptance_is_ignored(stage: Stage) -> None:
    stage.solve([GOOD, f"right\n\n# Correction\n```python\n{CUPS}\n```"], ONE_REPLY)
    assert stage.roles == ["coder", "critic"]


def test_a_correction_changes_only_what_is_marked_if_that_is_asked_for(stage: Stage) -> None:
    other = GOOD.replace("return str(len(cups))", "return str(len(cups) + 5)").replace("cups", "plates")
    reply = f"{MARKED}\n\n# Correction\n```python\n{other}\n```"
    roles_of(stage, reply, "right", strategy=VDebugger(critic_on_error=True, constrain=True))


def test_the_critic_is_asked_for_a_correction(stage: Stage) -> None:
    roles_of(stage, CORRECTED, "right")
    assert "write the line # Correction" in stage.request_text(1)


def test_critics_are_asked_to_correct_nothing_as_in_the_paper(stage: Stage) -> None:
    paper = VDebugger(critic_on_error=True, one_reply=False)
    assert roles_of(stage, MARKED, GOOD, "right", strategy=paper) == ["coder", "critic", "refiner", "critic"]
    assert "Mark one place only. Do not correct anything." in stage.request_text(1)


def test_a_refiner_of_its_own_writes_the_correction(stage: Stage) -> None:
    question = Question("How many cups are there?", (stage.world.picture(0),))
    critic, refiner = Scripted([CORRECTED, "right"]), Scripted([GOOD])
    models = {"default": Scripted([WRONG]), "critic": critic, "refiner": refiner}
    with closing(
        Episode(question, models, Limits(), stage.sandbox, stage.events.append, tools=stage.world.tools)
    ) as episode:
        assert ONE_REPLY.solve(question, episode) == Answer("3")
    assert "Do not correct anything." in critic.requests[0][-1].text
    assert len(refiner.requests) == 1


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("wrong\nit\n# Correction\nx", "\nx"),
        ("wrong\nit\n**Corrected program:**\nx", "\nx"),
        ("wrong\nHere is the corrected version:\nx", "\nx"),
        ("wrong\n<<<BUG>>>y<<<BUG/>>>\n1. Correction\n<<<BUG>>>x<<<BUG/>>>", "\n<<<BUG>>>x<<<BUG/>>>"),
        ("wrong\n    corrected = 1\nx", ""),
        ("wrong\n# Correction\n<<<BUG>>>x<<<BUG/>>>", ""),
        ("<think>wrong\n# Correction\ny</think>wrong\n# Correction\nx", "\nx"),
    ],
)
def test_a_correction_follows_its_heading_behind_the_marks(reply: str, rest: str) -> None:
    assert split_correction(reply)[1] == rest


@pytest.mark.parametrize(
    ("body", "why"), [("return None", "returned None"), ("return {}", "returned a dict")]
)
def test_a_result_that_is_no_answer_is_rejected_without_a_critic(stage: Stage, body: str, why: str) -> None:
    assert stage.solve([program(body), GOOD, "right"], VDebugger()) == Answer("3")
    assert stage.roles == ["coder", "refiner", "critic"]
    assert f"the program {why}" in stage.request_text(1)


def test_the_record_of_a_verdict_says_whether_a_critic_gave_it(stage: Stage) -> None:
    stage.solve([program("return None"), GOOD, "right"], VDebugger())
    assert [verdict["by_critic"] for verdict in stage.notes("verdict")] == [False, True]
