from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pyvision.cli.commands.verify import format_verification
from pyvision.cli.main import main
from pyvision.errors import ConfigError
from pyvision.events import RunEnded
from pyvision.images.pixels import pixels
from pyvision.runs.run import Run
from pyvision.runs.verify import is_same_answer, regions_of, verify
from pyvision.types import Evidence, Message, Picture, Reply, Restart, Sampling
from sandbox import CellResult, Region
from tests.doubles import CannedSandbox
from tests.runs.runs import figure, noise, picture, recorded, simple_events

BOX = (20.0, 30.0, 60.0, 50.0)
CITED = (Evidence("image_clue_0", BOX),)


@dataclass
class Looking:
    """A model that answers with what it sees in the pictures it is sent."""

    see: Callable[[Picture], str]
    name: str = "scripted"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        shown = next(part for message in messages for part in message.parts if isinstance(part, Picture))
        return Reply(f"<answer>\\boxed{{{self.see(shown)}}}</answer>")

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        yield self.complete(messages, sampling)


def is_intact(shown: Picture) -> bool:
    before, now = pixels(picture(noise())), pixels(shown)
    return bool((before[30:50, 20:60] == now[30:50, 20:60]).all())


def attentive(shown: Picture) -> str:
    return "grey" if is_intact(shown) else "not visible"


def a_run(folder: Path, evidence: tuple[Evidence, ...] = CITED, answer: str | None = "grey") -> Run:
    events = [
        replace(each, outcome=replace(each.outcome, answer=answer, evidence=evidence))
        if isinstance(each, RunEnded)
        else each
        for each in simple_events()
    ]
    return recorded(folder, events)


def test_an_answer_that_needs_the_evidence_depends_on_it(tmp_path: Path) -> None:
    found = verify(a_run(tmp_path), model=Looking(attentive), sandbox=CannedSandbox())
    assert [(each.masked, each.is_same) for each in found.checks] == [
        ("evidence masked", False),
        ("elsewhere masked", True),
        ("evidence alone", True),
    ]
    assert found.verdict == "depends"


def test_an_answer_out_of_nowhere_does_not_depend_on_it(tmp_path: Path) -> None:
    found = verify(a_run(tmp_path), model=Looking(lambda shown: "grey"), sandbox=CannedSandbox())
    assert found.verdict == "does not depend"


def test_an_answer_that_any_change_turns_is_undecided(tmp_path: Path) -> None:
    found = verify(a_run(tmp_path), model=Looking(lambda shown: "blue"), sandbox=CannedSandbox())
    assert found.verdict == "undecided"


def test_no_equal_area_is_masked_if_no_area_is_left(tmp_path: Path) -> None:
    whole = (Evidence("image_clue_0", (0, 0, 120, 80)),)
    found = verify(a_run(tmp_path, whole), model=Looking(attentive), sandbox=CannedSandbox())
    assert (found.find("elsewhere masked"), found.verdict) == (None, "undecided")


def test_a_verdict_without_an_equal_area_says_so(tmp_path: Path) -> None:
    whole = (Evidence("image_clue_0", (0, 0, 120, 80)),)
    found = verify(a_run(tmp_path, whole), model=Looking(attentive), sandbox=CannedSandbox())
    assert "undecided: the answer changes, and no equal area is left" in format_verification(found)


def test_without_citations_the_last_look_is_the_evidence(tmp_path: Path) -> None:
    from pyvision.events import CellRun

    region = Region("image_clue_0", (0, 0, 40, 30), (1, 0, 10, 0, 1, 20))
    events = [
        replace(each, result=CellResult("ok", (replace(figure(noise(40, 30)), regions=(region,)),)))
        if isinstance(each, CellRun)
        else each
        for each in simple_events()
    ]
    found = regions_of(recorded(tmp_path, events))
    assert [(each.box, each.is_derived) for each in found] == [((10, 20, 50, 50), True)]


def test_a_run_that_looked_at_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--set evidence=true"):
        verify(a_run(tmp_path, ()), model=Looking(attentive), sandbox=CannedSandbox())


def test_a_run_without_an_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no answer"):
        verify(a_run(tmp_path, answer=None), model=Looking(attentive), sandbox=CannedSandbox())


def test_another_model_than_the_recorded_one_has_to_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYVISION_MODEL", "offline")
    with pytest.raises(ConfigError, match="choose with --model NAME"):
        verify(a_run(tmp_path), sandbox=CannedSandbox())


@pytest.mark.parametrize(
    ("one", "other"), [("B", "B. blue"), ("(B)", "b"), ("A  red Car.", "a red car"), ("7", "7.")]
)
def test_answers_that_differ_in_form_alone_are_the_same(one: str, other: str) -> None:
    assert is_same_answer(one, other)


@pytest.mark.parametrize(("one", "other"), [("A", "B"), ("7", "17"), ("grey", None), ("A cat", "A dog")])
def test_other_answers_are_not_the_same(one: str, other: str | None) -> None:
    assert not is_same_answer(one, other)


def test_the_command_says_what_became_of_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYVISION_MODEL", "offline")
    a_run(tmp_path / "run")
    code = main(["verify", str(tmp_path / "run"), "--model", "offline", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [each["masked"] for each in found["checks"]] == [
        "evidence masked",
        "elsewhere masked",
        "evidence alone",
    ]
    assert (code, found["verdict"]) == (3, "undecided")  # the rules decline this question
    assert (tmp_path / "run/verify/evidence-masked/events.jsonl").is_file()
