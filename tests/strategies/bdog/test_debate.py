"""A debate on a graph goes its rounds, ends when it should, and tells all that happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.task import Task
from pyvision.config.files import data_folder
from pyvision.errors import ConfigError
from pyvision.events import Event, ModelCall, Note
from pyvision.models.scripted import Scripted
from pyvision.offline import Offline
from pyvision.solve import solve
from pyvision.strategies.bdog import Bdog
from pyvision.strategies.bdog.graphs import Graph
from pyvision.text.prompts import load, render
from pyvision.types import Answer, Question, Reply
from tests.doubles import CannedSandbox, EpisodeHarness, picture
from tests.strategies.bdog.graphs import graph

DOG, CAT, BOTH = graph("dog"), graph("cat"), graph("dog, cat", "dog chases cat")
QUESTION = Question("What runs?", (picture(),), choices=("the dog", "the cat"))
REFUSAL = Reply("I would rather not.", finish="refusal")


def script_debate(
    replies: Sequence[str | Reply | Graph], question: Question = QUESTION, limits: Limits | None = None
) -> EpisodeHarness:
    texts = [reply.json() if isinstance(reply, Graph) else reply for reply in replies]
    return EpisodeHarness(texts, question=question, limits=limits)


def notes(scripted: EpisodeHarness, label: str) -> list[dict[str, Any]]:
    return [e.data for e in scripted.events if isinstance(e, Note) and e.label == label]


def roles(scripted: EpisodeHarness) -> list[str]:
    return [event.role for event in scripted.events if isinstance(event, ModelCall)]


def test_graphs_that_agree_end_the_debate() -> None:
    scripted = script_debate([DOG, BOTH, DOG, r"\boxed{A}"])
    scripted.solve(Bdog())
    assert notes(scripted, "debate_ended") == [{"round": 1, "why": "agreed", "distance": 0}]


def test_the_moderator_answers_after_the_debate() -> None:
    scripted = script_debate([DOG, BOTH, DOG, r"\boxed{A}"])
    assert scripted.solve(Bdog()) == Answer("A")
    assert roles(scripted) == ["blueprint", "proponent", "opponent", "moderator"]


def solve_two_rounds() -> EpisodeHarness:
    """Request 1 is of the proponent, 2 of the opponent, 3 of the proponent in the second round."""
    scripted = script_debate([DOG, BOTH, CAT, DOG, BOTH, "A"])
    scripted.solve(Bdog(rounds=2))
    return scripted


def test_the_proponent_sees_the_blueprint() -> None:
    assert DOG.json() in solve_two_rounds().request_text(1)


def test_the_opponent_sees_the_graph_of_the_proponent() -> None:
    assert BOTH.json() in solve_two_rounds().request_text(2)


def test_the_next_round_begins_with_the_graph_of_the_opponent() -> None:
    assert CAT.json() in solve_two_rounds().request_text(3)


def request_to_the_moderator() -> str:
    scripted = script_debate([DOG, BOTH, CAT, "A"])
    scripted.solve(Bdog(rounds=1))
    return scripted.request_text(3)


def test_the_moderator_sees_both_graphs_of_the_last_round() -> None:
    request = request_to_the_moderator()
    assert BOTH.json() in request
    assert CAT.json() in request


def test_the_moderator_sees_the_choices() -> None:
    assert "A. the dog" in request_to_the_moderator()


def test_a_debate_that_does_not_settle_ends_after_its_rounds() -> None:
    scripted = script_debate([DOG, CAT, BOTH, DOG, CAT, "B"])
    assert scripted.solve(Bdog(rounds=2)) == Answer("B")
    assert notes(scripted, "debate_ended")[0]["why"] == "rounds"


def test_every_round_notes_both_differences() -> None:
    scripted = script_debate([DOG, BOTH, CAT, "B"])
    scripted.solve(Bdog(rounds=1))
    changes = {each["comparison"]: each for each in notes(scripted, "difference")}
    assert changes["inter"]["condensation"] == {"updated": 0, "pruned": 1, "added": 1}
    assert changes["intra"]["condensation"] == {"updated": 0, "pruned": 2, "added": 0}
    assert (changes["intra"]["distance"], changes["intra"]["paper_distance"]) == (2, 3)


STOPS: dict[str, tuple[Bdog, int]] = {  # the number of replies that a debate of growing graphs takes
    "what was added counts": (Bdog(rounds=2), 6),
    "what was added does not count": (Bdog(rounds=2, count_added=False), 4),
    "a large epsilon": (Bdog(rounds=2, epsilon=2), 4),
    "the two sides agree": (Bdog(rounds=2, stop_on="intra"), 4),
}


@pytest.mark.parametrize("rule", STOPS)
def test_the_stopping_rule_can_be_chosen(rule: str) -> None:
    options, replies = STOPS[rule]
    scripted = script_debate([DOG, BOTH, BOTH, *([BOTH, graph("dog")] if replies == 6 else []), "A"])
    scripted.solve(options)
    assert len(roles(scripted)) == replies


def test_several_debaters_a_side_refine_one_after_the_other() -> None:
    scripted = script_debate([DOG, CAT, BOTH, DOG, CAT, "A"])
    scripted.solve(Bdog(rounds=1, debaters=2))
    assert roles(scripted) == ["blueprint", *["proponent"] * 2, *["opponent"] * 2, "moderator"]
    assert [each["debater"] for each in notes(scripted, "graph")] == [1, 1, 2, 1, 2]
    assert CAT.json() in scripted.request_text(2)


def moderate_every_round() -> tuple[EpisodeHarness, Answer]:
    scripted = script_debate([DOG, BOTH, CAT, "A", BOTH, DOG, "B"])
    return scripted, scripted.solve(Bdog(rounds=2, every_round=True))


def test_a_moderator_asked_in_every_round_gives_tentative_answers() -> None:
    scripted, _ = moderate_every_round()
    assert [each["answer"] for each in notes(scripted, "tentative_answer")] == ["A", "B"]


def test_the_last_tentative_answer_is_the_answer() -> None:
    _, answer = moderate_every_round()
    assert answer == Answer("B")


def test_an_earlier_answer_counts_if_the_last_round_has_no_answer() -> None:
    scripted = script_debate([DOG, BOTH, CAT, "A", BOTH, DOG, REFUSAL])
    assert scripted.solve(Bdog(rounds=2, every_round=True)) == Answer("A")
    assert notes(scripted, "earlier_answer")


@pytest.mark.parametrize("visible", [True, False])
def test_debaters_see_the_choices_only_where_they_are_to(visible: bool) -> None:
    scripted = script_debate([DOG, BOTH, DOG, "A"])
    scripted.solve(Bdog(choices_in_graphs=visible))
    assert ["A. the dog" in scripted.request_text(turn) for turn in range(4)] == [
        visible,
        visible,
        visible,
        True,
    ]


def test_a_personality_is_sent_to_its_role_alone() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "A"])
    scripted.solve(
        Bdog(proponent_personality="none", opponent_personality="doubter", moderator_personality="none")
    )
    systems = [request[0].text for request in scripted.model.requests if request[0].role == "system"]
    assert systems == [load("bdog/personalities/doubter.md").rstrip()]
    assert scripted.model.requests[2][0].role == "system"


def test_every_role_of_a_debate_has_a_personality_by_default() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "A"])
    scripted.solve(Bdog())
    assert [request[0].role for request in scripted.model.requests] == ["user", "system", "system", "system"]


def test_a_proponent_that_changes_nothing_ends_the_debate_without_the_opponent() -> None:
    scripted = script_debate([DOG, DOG, "A"])
    assert scripted.solve(Bdog()) == Answer("A")
    assert roles(scripted) == ["blueprint", "proponent", "moderator"]
    assert notes(scripted, "debate_ended") == [{"round": 1, "why": "agreed", "distance": 0}]


def test_without_a_stopping_rule_the_opponent_is_always_asked() -> None:
    scripted = script_debate([DOG, DOG, DOG, "A"])
    scripted.solve(Bdog(rounds=1, epsilon=None))
    assert roles(scripted) == ["blueprint", "proponent", "opponent", "moderator"]


def personality_files() -> set[str]:
    return {path.stem for path in (data_folder("prompts") / "bdog" / "personalities").iterdir()}


def test_every_personality_that_can_be_chosen_has_one_file() -> None:
    assert personality_files() == {"surveyor", "doubter", "reader"}


def test_every_personality_is_described_at_length() -> None:
    assert all(len(render(f"bdog/personalities/{name}.md")) > 100 for name in personality_files())


def test_a_graph_over_the_limit_is_condensed_by_one_more_request() -> None:
    scripted = script_debate([graph("a, b, c"), graph("a, b"), DOG, DOG, "A"])
    scripted.solve(Bdog(max_objects=2, rounds=1))
    assert notes(scripted, "graph")[0]["source"] == "read condensed read"
    assert "has 3 nodes, but the limit is 2" in scripted.request_text(1)


def test_a_graph_that_stays_over_the_limit_is_cut() -> None:
    large = graph("a, b, c", "b on c")
    scripted = script_debate([large, large, DOG, DOG, "A"])
    scripted.solve(Bdog(max_objects=2, rounds=1))
    blueprint = notes(scripted, "graph")[0]
    assert blueprint["source"].endswith("cut")
    assert [node["name"] for node in blueprint["graph"]["nodes"]] == ["b", "c"]


def test_a_graph_in_prose_is_asked_for_once_more() -> None:
    scripted = script_debate(["A dog runs.", DOG, BOTH, DOG, "A"])
    assert scripted.solve(Bdog()) == Answer("A")
    assert notes(scripted, "graph")[0]["source"] == "read asked_again read"


def test_a_debater_that_draws_nothing_twice_leaves_the_graph_as_it_was() -> None:
    scripted = script_debate([DOG, "no", "no", DOG, "A"])
    scripted.solve(Bdog())
    proponents = notes(scripted, "graph")[1]
    assert (proponents["graph"], proponents["source"]) == (DOG.plain(), "read asked_again read empty_kept")


def test_empty_graphs_everywhere_still_lead_to_an_answer() -> None:
    scripted = script_debate(["nothing"] * 6 + ["A"])
    assert scripted.solve(Bdog()) == Answer("A")
    assert [each["graph"]["nodes"] for each in notes(scripted, "graph")] == [[], [], []]
    assert notes(scripted, "debate_ended")[0]["why"] == "no_graph"


def test_contradictory_graphs_are_both_shown_to_the_moderator() -> None:
    red, blue = graph("dog colour=red"), graph("dog colour=blue")
    scripted = script_debate([DOG, red, blue, "A"])
    scripted.solve(Bdog(rounds=1))
    assert [notes(scripted, "difference")[1]["counts"]["attributes"]["updated"]] == [1]
    assert all(one.json() in scripted.request_text(3) for one in (red, blue))


def test_a_proponent_that_refuses_does_not_agree() -> None:
    scripted = script_debate([DOG, REFUSAL, BOTH, "A"])
    scripted.solve(Bdog(rounds=1))
    assert roles(scripted) == ["blueprint", "proponent", "opponent", "moderator"]


def test_a_debater_that_refuses_leaves_the_graph_as_it_was() -> None:
    scripted = script_debate([DOG, REFUSAL, BOTH, "A"])
    assert scripted.solve(Bdog(rounds=1)) == Answer("A")
    assert notes(scripted, "graph")[1]["source"] == "refused_kept"


def test_a_moderator_that_refuses_ends_it_as_refused() -> None:
    answer = script_debate([DOG, BOTH, DOG, REFUSAL]).solve(Bdog())
    assert (answer.text, answer.end_reason) == (None, "refused")


@pytest.mark.parametrize("reply", ["F", "A and B", "Hard to say.", ""])
def test_a_moderator_that_settles_on_no_choice_is_asked_once_more(reply: str) -> None:
    scripted = script_debate([DOG, BOTH, DOG, reply, "B"])
    assert scripted.solve(Bdog()) == Answer("B")
    assert "exactly one letter of A, B" in scripted.request_text(4)


def test_a_moderator_that_never_settles_gives_no_answer() -> None:
    answer = script_debate([DOG, BOTH, DOG, "F", "F"]).solve(Bdog())
    assert (answer.text, answer.end_reason) == (None, "no_answer")


def test_the_remark_says_why_a_moderator_gave_no_answer() -> None:
    answer = script_debate([DOG, BOTH, DOG, "F", "F"]).solve(Bdog())
    assert "there is no choice F" in (answer.remark or "")


def test_a_moderator_cut_at_its_length_limit_ends_as_truncated() -> None:
    cut = Reply("Let me see", finish="length")
    assert script_debate([DOG, BOTH, DOG, cut, cut]).solve(Bdog()).end_reason == "truncated"


def test_a_question_without_choices_gets_its_answer_in_free_text() -> None:
    scripted = script_debate([DOG, BOTH, DOG, r"\boxed{two dogs}"], Question("What runs?", (picture(),)))
    assert scripted.solve(Bdog()) == Answer("two dogs")
    assert notes(scripted, "no_choices")


FREE_QUESTION = Question("What runs?", (picture(),))


def test_an_open_question_without_an_answer_is_asked_once_more() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "", "a dog"], FREE_QUESTION)
    assert scripted.solve(Bdog()) == Answer("a dog")
    assert "it is empty" in scripted.request_text(4)


def test_an_open_question_ends_after_two_empty_replies() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "", ""], FREE_QUESTION)
    assert scripted.solve(Bdog()).end_reason == "no_answer"


def test_every_role_can_be_played_by_a_model_of_its_own() -> None:
    graphs = {"blueprint": DOG, "proponent": BOTH, "opponent": DOG}
    models = {role: Scripted([made.json()], role) for role, made in graphs.items()}
    models["default"] = Scripted(["A"], "the rest")
    events: list[Event] = []
    solve(Task(QUESTION, Bdog(), models), events.append, CannedSandbox())
    played = [(event.role, event.model) for event in events if isinstance(event, ModelCall)]
    assert played == [*((role, role) for role in list(models)[:3]), ("moderator", "the rest")]


def test_the_outcome_holds_the_graphs_of_a_debate_that_a_limit_ends() -> None:
    model = Scripted([DOG.json()])
    task = Task(QUESTION, Bdog(), {"default": model}, Limits(max_turns=2))
    outcome = solve(task, lambda event: None, CannedSandbox())
    found = outcome.findings["graphs"]
    assert [(each["role"], each["round"]) for each in found] == [("blueprint", 0)]
    assert found[0]["graph"] == DOG.plain()


def test_a_debate_of_the_offline_model_ends_as_refused() -> None:
    events: list[Event] = []
    outcome = solve(Task(QUESTION, Bdog(), {"default": Offline()}), events.append, CannedSandbox())
    assert (outcome.answer, outcome.end_reason) == (None, "refused")


def test_a_question_without_an_image_is_debated() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "A"], Question("What runs?", choices=("x", "y")))
    assert scripted.solve(Bdog()) == Answer("A")


def test_a_debate_without_an_image_is_noted() -> None:
    scripted = script_debate([DOG, BOTH, DOG, "A"], Question("What runs?", choices=("x", "y")))
    scripted.solve(Bdog())
    assert notes(scripted, "no_image")


def test_26_choices_are_debated() -> None:
    many = Question("Which?", (picture(),), choices=tuple(f"number {n}" for n in range(26)))
    assert script_debate([DOG, BOTH, DOG, "Z"], many).solve(Bdog()) == Answer("Z")


def test_27_choices_are_refused() -> None:
    more = Question("Which?", (picture(),), choices=("x",) * 27)
    with pytest.raises(ConfigError, match="27 choices"):
        script_debate([], more).solve(Bdog())


def test_choices_that_contain_each_other_are_distinguished() -> None:
    nested = Question("Where?", (picture(),), choices=("on the mat", "on the mat by the door"))
    assert script_debate([DOG, BOTH, DOG, "It is on the mat by the door"], nested).solve(Bdog()) == Answer(
        "B"
    )


def test_a_spent_budget_ends_the_debate() -> None:
    scripted = script_debate([DOG, BOTH, "B"], limits=Limits(max_turns=3))
    scripted.solve(Bdog())
    assert notes(scripted, "debate_ended")[0]["why"] == "turn_limit"


def test_the_last_turn_of_a_budget_is_for_the_moderator() -> None:
    scripted = script_debate([DOG, BOTH, "B"], limits=Limits(max_turns=3))
    assert scripted.solve(Bdog()) == Answer("B")
    assert roles(scripted) == ["blueprint", "proponent", "moderator"]


@pytest.mark.parametrize("options", [{"rounds": 0}, {"debaters": 0}, {"max_objects": 0}, {"epsilon": -1.0}])
def test_an_option_out_of_its_range_is_refused_by_name(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ConfigError, match=f"option {name} is"):
        Bdog(**options)
