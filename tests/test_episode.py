from __future__ import annotations

import time

import pytest

from pyvision.episode import Limits
from pyvision.errors import LimitReached, ModelError
from pyvision.events import Asked, Defined, Noted
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Reply, Text, Usage
from sandbox import Figure
from tests.doubles import CannedSandbox, Rehearsal, figure, picture

HELLO = (Message("user", (Text("hello"),)),)


def test_usage_and_turns_are_counted() -> None:
    episode = Rehearsal([Reply("a", Usage(10, 2)), Reply("b", Usage(20, 3))]).episode
    episode.ask("solver", HELLO)
    episode.ask("solver", HELLO)
    assert episode.usage == Usage(30, 5)
    assert (episode.turns, episode.turns_left) == (2, 18)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(max_turns=1), "turn_limit"), (Limits(max_tokens=10), "token_limit")],
)
def test_a_spent_budget_stops_the_next_question_to_the_model(limits: Limits, reason: str) -> None:
    rehearsal = Rehearsal([Reply("a", Usage(10, 2))] * 2, limits=limits)
    rehearsal.episode.ask("solver", HELLO)
    with pytest.raises(LimitReached) as caught:
        rehearsal.episode.ask("solver", HELLO)
    assert caught.value.end_reason == reason
    assert len(rehearsal.model.requests) == 1


def test_spent_time_stops_models_and_cells() -> None:
    rehearsal = Rehearsal(["a"], limits=Limits(max_seconds=0.01))
    time.sleep(0.02)
    for verb in (lambda: rehearsal.episode.ask("solver", HELLO), lambda: rehearsal.episode.run("1")):
        with pytest.raises(LimitReached) as caught:
            verb()
        assert caught.value.end_reason == "time_limit"
    assert rehearsal.sandbox.cells == []


def test_no_limit_is_no_limit() -> None:
    rehearsal = Rehearsal([Reply("a", Usage(10**9, 0))], limits=Limits(max_tokens=None, max_seconds=None))
    rehearsal.episode.ask("solver", HELLO)
    assert rehearsal.episode.last_call() is None


def test_a_role_without_a_model_of_its_own_is_played_by_the_default() -> None:
    from pyvision.episode import Episode

    critic, other = Scripted(["fine"], name="critic"), Scripted(["well"], name="other")
    events: list[object] = []
    rehearsal = Rehearsal([])
    models = {"critic": critic, "default": other}
    episode = Episode(rehearsal.question, models, Limits(), CannedSandbox(), events.append)
    assert episode.ask("critic", HELLO).text == "fine"
    assert episode.ask("coder", HELLO).text == "well"
    assert [event.model for event in events if isinstance(event, Asked)] == ["critic", "other"]


def test_the_kernel_starts_with_the_first_cell_and_only_once() -> None:
    rehearsal = Rehearsal([])
    assert rehearsal.sandbox.opened == 0
    rehearsal.episode.run("1")
    rehearsal.episode.run("2")
    assert rehearsal.sandbox.opened == 1
    rehearsal.episode.close()
    assert rehearsal.sandbox.closed == 1


def test_pictures_are_recorded_as_they_were_sent() -> None:
    rehearsal = Rehearsal(["ok"])
    rehearsal.episode.ask("solver", (Message("user", (picture(5000, 100),)),))
    (event,) = (event for event in rehearsal.events if isinstance(event, Asked))
    assert event.messages == rehearsal.model.requests[0]


def test_a_defined_figure_stands_in_the_kernel_under_the_next_name() -> None:
    rehearsal = Rehearsal([])
    ((name, shown),) = rehearsal.episode.define([figure()])
    assert name == "image_clue_1"
    assert rehearsal.sandbox.images[name] == shown.data


def test_a_figure_that_is_no_picture_is_noted_and_takes_no_number() -> None:
    rehearsal = Rehearsal([])
    named = rehearsal.episode.define([Figure(b"junk", "image/png", 3, 3), figure()])
    assert [name for name, _ in named] == ["image_clue_1"]
    assert [type(event) for event in rehearsal.events] == [Noted, Defined]


def test_a_failing_endpoint_is_the_callers_to_handle() -> None:
    with pytest.raises(ModelError):
        Rehearsal([]).episode.ask("solver", HELLO)


def test_stop_ends_the_kernel_and_every_verb() -> None:
    rehearsal = Rehearsal(["a"])
    rehearsal.episode.run("1")
    rehearsal.episode.stop()
    assert rehearsal.sandbox.closed == 1
    with pytest.raises(LimitReached) as caught:
        rehearsal.episode.ask("solver", HELLO)
    assert caught.value.end_reason == "interrupted"
