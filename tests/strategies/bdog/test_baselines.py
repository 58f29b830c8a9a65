"""The baselines that the debate on a graph is compared with."""

from __future__ import annotations

import pytest

from pyvision.agent.budget import Limits
from pyvision.strategies.bdog import Bdog
from pyvision.strategies.bdog.debate import Mode
from pyvision.types import Answer, Question, Reply
from tests.doubles import EpisodeHarness
from tests.strategies.bdog.test_debate import DOG, REFUSAL, notes, roles, script_debate

FREE = Question("What runs?")


def test_the_plain_baseline_asks_once() -> None:
    scripted = script_debate(["B"])
    assert scripted.solve(Bdog(mode="plain")) == Answer("B")
    assert roles(scripted) == ["solver"]


def test_a_plain_final_answer_is_found_as_in_every_strategy() -> None:
    answer = script_debate(["I see a dog.\n**Final Answer:** a dog"], FREE).solve(Bdog(mode="plain"))
    assert (answer.text, answer.is_last_resort) == ("a dog", False)


def test_a_reply_without_an_answer_is_asked_for_it_again() -> None:
    answer = script_debate(["I see a dog.", r"\boxed{a dog}"], FREE).solve(Bdog(mode="plain"))
    assert (answer.text, answer.is_last_resort) == ("a dog", False)


def test_a_second_reply_without_an_answer_is_taken_whole_as_a_last_resort() -> None:
    answer = script_debate(["I see a dog.", "I see it run."], FREE).solve(Bdog(mode="plain"))
    assert (answer.text, answer.is_last_resort) == ("I see it run.", True)


def solve_graph_only() -> EpisodeHarness:
    scripted = script_debate([DOG, "A"])
    assert scripted.solve(Bdog(mode="graph_only")) == Answer("A")
    return scripted


def test_graph_only_generates_one_graph() -> None:
    assert roles(solve_graph_only()) == ["blueprint", "moderator"]


def test_graph_only_answers_from_its_graph() -> None:
    assert DOG.json() in solve_graph_only().request_text(1)


def test_debate_only_makes_the_calls_of_a_debate_but_for_the_blueprint_with_opinions() -> None:
    scripted = script_debate(["it is the dog", "it is the cat", "still the dog", "the cat, I say", "B"])
    options = Bdog(mode="debate_only", rounds=2)
    assert scripted.solve(options) == Answer("B")
    assert roles(scripted) == ["proponent", "opponent"] * 2 + ["moderator"]
    assert len(roles(scripted)) == options.calls - 1
    assert ["it is the dog" in scripted.request_text(1), "it is the cat" in scripted.request_text(2)] == [
        True,
        True,
    ]
    assert all(opinion in scripted.request_text(4) for opinion in ("still the dog", "the cat, I say"))


def test_a_refused_opinion_leaves_the_earlier_one() -> None:
    scripted = script_debate(["the dog", "the cat", REFUSAL, "the cat", "A"])
    scripted.solve(Bdog(mode="debate_only", rounds=2))
    assert "the dog" in scripted.request_text(3)


def test_self_correction_reconsiders_once_a_round_in_one_conversation() -> None:
    scripted = script_debate(["A", "B", "B"])
    assert scripted.solve(Bdog(mode="self_correction", rounds=2)) == Answer("B")
    assert [len(request) for request in scripted.model.requests] == [1, 3, 5]


def test_self_correction_keeps_its_answer_where_the_next_one_is_invalid() -> None:
    assert script_debate(["A", REFUSAL]).solve(Bdog(mode="self_correction")) == Answer("A")


def test_the_majority_of_as_many_calls_as_a_debate_takes_wins() -> None:
    options = Bdog(mode="majority_vote", rounds=2)
    scripted = script_debate(["A", "B", "A", "B", "B", "B"])
    assert (options.calls, scripted.solve(options)) == (6, Answer("B"))
    assert [each["answer"] for each in notes(scripted, "vote")] == ["A", "B", "A", "B", "B", "B"]


def test_of_equal_votes_the_one_that_came_first_wins() -> None:
    assert script_debate(["B", "A", "A", "B"]).solve(Bdog(mode="majority_vote", rounds=1)) == Answer("B")


def test_a_vote_ends_with_its_budget() -> None:
    scripted = script_debate(["A", "B", "B"], limits=Limits(max_turns=3))
    assert scripted.solve(Bdog(mode="majority_vote")) == Answer("B")
    assert len(roles(scripted)) == 3


@pytest.mark.parametrize("reply", [REFUSAL, "I'm sorry, but I can't help with that."])
@pytest.mark.parametrize("mode", ["majority_vote", "bdog"])
def test_a_debate_of_refusals_is_refused(mode: Mode, reply: str | Reply) -> None:
    answer = script_debate([reply] * 20).solve(Bdog(mode=mode))
    assert (answer.text, answer.end_reason) == (None, "refused")
