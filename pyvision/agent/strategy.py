"""What a strategy is: a way of reasoning that works with an Episode."""

from __future__ import annotations

from typing import Protocol

from pyvision.agent.episode import Episode
from pyvision.types import Answer, Question


class Strategy(Protocol):
    """A way of reasoning: a frozen dataclass whose fields are its options. Holds nothing between questions.

    roles: the names under which it asks models. tools: the names of those it uses. needs: those of them without which
    it cannot begin. continues: whether it takes up `Question.earlier`. runs_code: whether it runs any cell.
    An option that cannot be used is a ConfigError when the strategy is made.
    """

    @property
    def roles(self) -> tuple[str, ...]: ...

    @property
    def tools(self) -> tuple[str, ...]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def continues(self) -> bool: ...

    @property
    def runs_code(self) -> bool: ...

    def solve(self, question: Question, episode: Episode) -> Answer: ...
