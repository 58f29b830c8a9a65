"""The strategy and its options; `mode` chooses the debate or one of the arms that it is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyvision.episode import Episode
from pyvision.errors import ConfigError
from pyvision.strategies.bdog import controls, debate
from pyvision.strategies.bdog.asking import Asking
from pyvision.strategies.bdog.choices import asked
from pyvision.types import Answer, Question

Personality = Literal["none", "surveyor", "doubter", "reader"]  # the files of prompts/bdog/personalities
Mode = Literal["bdog", "debate_only", "graph_only", "plain", "self_correction", "majority_vote"]


@dataclass(frozen=True, slots=True)
class Bdog:
    """Blueprint debate on graph (arXiv 2403.14972), and its ablations as modes.

    epsilon: the distance of graphs at which a debate ends; None: it goes all its rounds, as in the released code.
    stop_on: the distance of the blueprint and the next one (`inter`, equation 6), or of the two sides (`intra`,
    Algorithm 1). count_added: what was added counts as distance too; the paper speaks of updated and pruned only, and
    a debate then ends on a graph that still grows. choices_in_graphs: debaters see the choices; without, the paper's
    appendix C.3 reports 2.4 to 3.4 points more for its small model. every_round: the moderator is asked after every
    round, and not only at the end. max_objects: the paper's 20; its code says 3.
    """

    continues: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("blueprint", "proponent", "opponent", "moderator", "solver")
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    mode: Mode = "bdog"
    rounds: int = 3
    debaters: int = 1  # on each side
    epsilon: float | None = 0.0
    stop_on: Literal["inter", "intra"] = "inter"
    count_added: bool = True
    max_objects: int = 20
    choices_in_graphs: bool = False
    every_round: bool = False
    blueprint_personality: Personality = "none"
    proponent_personality: Personality = "none"
    opponent_personality: Personality = "none"
    moderator_personality: Personality = "none"

    def __post_init__(self) -> None:
        for name in ("rounds", "debaters", "max_objects"):
            if getattr(self, name) < 1:
                raise ConfigError(f"option {name} is {getattr(self, name)}; it takes a whole number above 0")
        if self.epsilon is not None and not self.epsilon >= 0:
            raise ConfigError(f"option epsilon is {self.epsilon}; it takes a distance, 0 or more, or none")

    @property
    def calls(self) -> int:
        """How many replies a debate of all rounds takes, when none of them needs mending."""
        return 1 + 2 * self.debaters * self.rounds + (self.rounds if self.every_round else 1)

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for a question of more than 26 choices."""
        personalities = {role: getattr(self, f"{role}_personality", "none") for role in self.roles}
        asking = Asking(asked(question), question.images, episode, personalities)
        if not question.images:
            episode.note("no_image", why="the question has no image; the roles are asked without one")
        if not asking.question.choices:
            episode.note("no_choices", why="no choices were given or listed; the answer is free text")
        return _MODES[self.mode](self, asking)


_MODES: Mapping[Mode, Callable[[Bdog, Asking], Answer]] = {
    "bdog": debate.debate_on_graph,
    "debate_only": controls.debate_of_opinions,
    "graph_only": debate.answer_from_blueprint,
    "plain": controls.plain,
    "self_correction": controls.self_correction,
    "majority_vote": controls.majority_vote,
}
