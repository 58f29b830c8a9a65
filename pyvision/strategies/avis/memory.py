"""The working memory: a stack of visits to states, each with what was known there, and the sources of all of it.

A visit holds its own exclusions, so that none leaks into another visit or another question. Going back takes the top
visit away, with what was found in it, and excludes at the visit below what led there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pyvision.strategies.avis.actions import START, Action
from pyvision.types import Source

Phase: TypeAlias = Literal["visual", "knowledge"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one step brought. sources: the numbers of those that it rests on."""

    step: int
    action: str
    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A stay in a state. focus: the number of the chosen object. think: why it was chosen.

    excluded: actions that brought nothing here. rejected: objects that were chosen from here and brought nothing.
    """

    phase: Phase
    query: str
    state: str = START
    findings: tuple[Finding, ...] = ()
    focus: int | None = None
    think: str = ""
    excluded: frozenset[Action] = frozenset()
    rejected: frozenset[int] = frozenset()

    def without(self, action: Action, detected: int | None) -> Node:
        """The same visit, an action excluded; of `object_select` only the object that it chose."""
        if action == "object_select" and detected is not None:
            return replace(self, rejected=self.rejected | {detected})
        return replace(self, excluded=self.excluded | {action})


class Memory:
    """The stack of visits, and the sources by number, counted from 1."""

    def __init__(self, start: Node) -> None:
        self._nodes = [start]
        self.furthest = start  # what a last answer rests on: going back must not forget what had been learnt
        self.sources: list[Source] = []

    @property
    def here(self) -> Node:
        """The visit that is going on."""
        return self._nodes[-1]

    @property
    def depth(self) -> int:
        """How many visits lie below this one."""
        return len(self._nodes) - 1

    def go(self, node: Node) -> None:
        self._nodes.append(node)
        if _progress(node) >= _progress(self.furthest):
            self.furthest = node

    def exclude(self, action: Action, detected: int | None) -> None:
        """An action brought nothing here."""
        self._nodes[-1] = self.here.without(action, detected)

    def go_back(self) -> tuple[str, str]:
        """Take the top visit away; gives the states left and returned to. There has to be one below."""
        left = self._nodes.pop()
        action: Action = left.state  # type: ignore[assignment]  # START is only at the bottom
        self.exclude(action, left.focus)
        return left.state, self.here.state

    def number(self, sources: Iterable[Source]) -> tuple[int, ...]:
        """The numbers of sources, new ones where they were not met before."""
        numbers = []
        for source in dict.fromkeys(sources):
            if source not in self.sources:
                self.sources.append(source)
            numbers.append(self.sources.index(source) + 1)
        return tuple(numbers)

    def listed(self, numbers: Iterable[int]) -> str:
        """`[1] title (address)`, one a line."""
        return "\n".join(f"[{n}] {told(self.sources[n - 1])}" for n in numbers)


def _progress(node: Node) -> tuple[bool, int]:
    return node.phase == "knowledge", len(node.findings)


def told(source: Source) -> str:
    """A source in one line."""
    return f"{source.title} ({source.address})" if source.address else source.title
