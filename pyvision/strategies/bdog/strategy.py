"""The strategy; its option `mode` chooses the debate or one of the baselines that it is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.strategies.bdog import baselines, debate
from pyvision.strategies.bdog.choices import parse_choices
from pyvision.strategies.bdog.options import BdogOptions, Mode
from pyvision.strategies.bdog.role_client import RoleClient
from pyvision.types import Answer, Question


@dataclass(frozen=True, slots=True)
class Bdog(BdogOptions):
    """Blueprint debate on graph (arXiv 2403.14972), and its ablations as modes."""

    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("blueprint", "proponent", "opponent", "moderator", "solver")
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for a question of more than 26 choices."""
        personalities = {role: getattr(self, f"{role}_personality", "none") for role in self.roles}
        client = RoleClient(parse_choices(question), question.images, episode, personalities)
        if not question.images:
            episode.note("no_image", why="the question has no image; the roles are asked without one")
        if not client.question.choices:
            episode.note("no_choices", why="no choices were given or listed; the answer is free text")
        return _MODES[self.mode](self, client)


_MODES: Mapping[Mode, Callable[[BdogOptions, RoleClient], Answer]] = {
    "bdog": debate.debate_on_graph,
    "debate_only": baselines.debate_of_opinions,
    "graph_only": debate.answer_from_blueprint,
    "plain": baselines.plain,
    "self_correction": baselines.self_correction,
    "majority_vote": baselines.majority_vote,
}
