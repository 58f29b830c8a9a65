"""The working memory of a search: a stack of nodes, each with what was known there, and all sources.

A node holds its own exclusions, so that none affects another node or another question. Going back removes the top node
with its findings, and excludes at the node below the action that led there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pyvision.strategies.avis.actions import START, Action
from pyvision.types import Source

Phase: TypeAlias = Literal["visual", "knowledge"]


@dataclass(frozen=True, slots=True)
class StepFinding:
    """What one step found. sources: the numbers of the sources that it rests on."""

    step: int
    action: str
    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchNode:
    """One visit of a state. focus: the number of the chosen object. think: why it was chosen.

    excluded: actions that found nothing here. rejected: objects that were chosen from here in vain.
    """

    phase: Phase
    query: str
    state: str = START
    findings: tuple[StepFinding, ...] = ()
    focus: int | None = None
    think: str = ""
    excluded: frozenset[Action] = frozenset()
    rejected: frozenset[int] = frozenset()

    @property
    def known(self) -> str:
        """What was found on the way to this node, one item a line."""
        lines = [f"- {finding.text}" for finding in self.findings]
        if self.think:
            lines.append(f"- chosen object #{self.focus}: {self.think}")
        return "\n".join(lines) or "(nothing yet)"

    def without(self, action: Action, detected: int | None) -> SearchNode:
        """This node with an action excluded; of `object_select`, only the object that it chose."""
        if action == "object_select" and detected is not None:
            return replace(self, rejected=self.rejected | {detected})
        return replace(self, excluded=self.excluded | {action})


class Memory:
    """The stack of nodes, and the sources by number, counted from 1."""

    def __init__(self, start: SearchNode) -> None:
        self._nodes = [start]
        self.furthest = start  # what a last answer rests on: going back must not forget what was found
        self.sources: list[Source] = []

    @property
    def here(self) -> SearchNode:
        """The current node."""
        return self._nodes[-1]

    @property
    def depth(self) -> int:
        """How many nodes lie below the current one."""
        return len(self._nodes) - 1

    def go(self, node: SearchNode) -> None:
        self._nodes.append(node)
        if _progress(node) >= _progress(self.furthest):
            self.furthest = node

    def exclude(self, action: Action, detected: int | None) -> None:
        """Record that an action found nothing here."""
        self._nodes[-1] = self.here.without(action, detected)

    def go_back(self) -> tuple[str, str]:
        """Remove the top node; returns the states left and returned to. There must be a node below."""
        left = self._nodes.pop()
        action: Action = left.state  # type: ignore[assignment]  # START is only at the bottom
        self.exclude(action, left.focus)
        return left.state, self.here.state

    def number(self, sources: Iterable[Source]) -> tuple[int, ...]:
        """The numbers of sources; unknown ones get new numbers."""
        numbers = []
        for source in dict.fromkeys(sources):
            if source not in self.sources:
                self.sources.append(source)
            numbers.append(self.sources.index(source) + 1)
        return tuple(numbers)

    def format_sources(self, numbers: Iterable[int]) -> str:
        """`[1] title (address)`, one a line."""
        return "\n".join(f"[{n}] {_format_source(self.sources[n - 1])}" for n in numbers)


def _progress(node: SearchNode) -> tuple[bool, int]:
    return node.phase == "knowledge", len(node.findings)


def _format_source(source: Source) -> str:
    return f"{source.title} ({source.address})" if source.address else source.title
