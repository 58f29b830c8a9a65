"""What can be chosen of a debate, and which values it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyvision.errors import ConfigError

Personality = Literal["none", "surveyor", "doubter", "reader"]  # the files of prompts/bdog/personalities
Mode = Literal["bdog", "debate_only", "graph_only", "plain", "self_correction", "majority_vote"]


@dataclass(frozen=True, slots=True)
class BdogOptions:
    """The fields of `--set` for this strategy.

    epsilon: the distance of graphs at which a debate ends; None: it goes all its rounds, as in the released code.
    stop_on: the distance of the blueprint and the next one (`inter`, equation 6), or of the two sides (`intra`,
    Algorithm 1). count_added: what was added counts as distance too; the paper speaks of updated and pruned only, and
    a debate then ends on a graph that still grows. choices_in_graphs: debaters see the choices; without, the paper's
    appendix C.3 reports 2.4 to 3.4 points more for its small model. every_round: the moderator is asked after every
    round, and not only at the end. max_objects: the paper's 20; its code says 3.
    """

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
