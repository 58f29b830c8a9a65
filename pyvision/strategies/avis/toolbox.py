"""The tools of one question: which are there, which the user still has to mend, and what they answer.

A tool that the user has to mend (an index that is missing, a package that is not installed) is noted and counts as
missing from then on: the walk goes on without it, and its ending says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError
from pyvision.strategies.avis.actions import ACTIONS, LOOKING, Action, Group, tool_of
from pyvision.types import Observation, ToolRequest


class Toolbox:
    """without: the group that an ablation takes away."""

    def __init__(self, episode: Episode, without: Group = "none") -> None:
        self._episode = episode
        self._without = without
        self.unusable: dict[str, str] = {}  # tool -> what the user has to mend

    def tool_of(self, action: Action) -> str | None:
        """The tool that does an action, or None while there is none."""
        is_out = self._without != "none" and ACTIONS[action].group == self._without
        return None if is_out else tool_of(action, self._usable())

    def perceived(self, tool: str) -> bool:
        """Whether a tool of the first look is there."""
        return tool in self._usable() and (self._without == "none" or LOOKING[tool] != self._without)

    def missing(self) -> dict[str, list[str]]:
        """action -> the tools of which it needs one, for actions without any."""
        return {name: list(row.tools) for name, row in ACTIONS.items() if self.tool_of(name) is None}

    def use(self, tool: str, request: ToolRequest) -> Observation:
        """As Episode.use, but what the user has to mend is an observation's error too."""
        try:
            return self._episode.use(tool, request)
        except ConfigError as error:
            self.unusable[tool] = str(error)
            self._episode.note("tool_unusable", tool=tool, why=str(error))
            return Observation(error=str(error))

    def _usable(self) -> list[str]:
        return [name for name in self._episode.tools if name not in self.unusable]


def hits_of(observation: Observation) -> list[Mapping[str, Any]]:
    """The hits of a search; none where its data have another form."""
    data = observation.data
    found = data.get("hits") if isinstance(data, Mapping) else None
    return [hit for hit in found if isinstance(hit, Mapping)] if isinstance(found, list | tuple) else []
