from __future__ import annotations

from pyvision.experiments.avis_study.statistics import END, statistics_of, tables
from pyvision.experiments.avis_study.trajectories import ActionTrajectory, Ending, Move


def trajectory(
    *actions: str, verdicts: tuple[tuple[str, str], ...] = (), ending: Ending = "found"
) -> ActionTrajectory:
    states = ("START", *actions)
    return ActionTrajectory("c", "q", tuple(map(Move, states, actions)), ending, verdicts)


TRAJECTORIES = [
    trajectory("vqa", "web_search", "web_search"),
    trajectory("vqa", "llm_qa"),
    trajectory("object_select", "web_search", ending="not found"),
    trajectory(ending="unfinished"),
]


def test_actions_are_counted_by_step() -> None:
    by_step = statistics_of(TRAJECTORIES).by_step
    assert by_step == {
        1: {"vqa": 2, "object_select": 1},
        2: {"web_search": 2, "llm_qa": 1},
        3: {"web_search": 1},
    }


def test_the_transition_probabilities_of_a_state_sum_to_one() -> None:
    shares = statistics_of(TRAJECTORIES).probabilities()
    assert shares["START", "vqa"] == 2 / 3
    assert shares["web_search", END] == 2 / 3
    for state in {state for state, _ in shares}:
        assert abs(sum(share for edge, share in shares.items() if edge[0] == state) - 1) < 1e-9


def test_an_uninformative_action_does_not_change_the_final_state() -> None:
    stayed = ActionTrajectory("c", "q", (Move("START", "vqa"), Move("vqa", "llm_qa", to="vqa")), "not found")
    assert statistics_of([stayed]).edges == {("START", "vqa"): 1, ("vqa", "llm_qa"): 1, ("vqa", END): 1}


def test_every_trajectory_counts_whatever_its_ending() -> None:
    found = statistics_of(TRAJECTORIES)
    assert found.lengths == {0: 1, 2: 2, 3: 1}
    assert found.endings == {"found": 2, "not found": 1, "unfinished": 1}


def test_verdicts_are_counted_for_each_action() -> None:
    with_verdicts = trajectory(
        "vqa", verdicts=(("vqa", "informative"), ("vqa", "not informative"), ("llm_qa", "answerable"))
    )
    found = statistics_of([with_verdicts, with_verdicts])
    assert found.verdicts["vqa"] == {"informative": 2, "not informative": 2}
    assert found.verdict_counts() == {"informative": 2, "not informative": 2, "answerable": 2}


def test_the_tables_show_shares_with_their_counts() -> None:
    text = tables(statistics_of(TRAJECTORIES))
    assert "trajectories: 4 (found 2, not found 1, unfinished 1)" in text
    assert "START -> vqa 0.67 (2), object_select 0.33 (1)" in text
    assert "only a strategy judges" in text


def test_the_tables_of_no_trajectories_say_so() -> None:
    assert "trajectories: 0 (none)" in tables(statistics_of([]))
