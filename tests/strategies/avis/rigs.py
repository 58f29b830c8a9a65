"""A search on a stage: models that answer by role, tools with canned observations, and everything that happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, ToolError
from pyvision.events import Event, ModelCall, Note, ToolRun
from pyvision.models.scripted import Scripted
from pyvision.strategies.avis import Avis
from pyvision.strategies.avis.actions import TOOLS
from pyvision.types import Answer, Ask, Model, Observation, Question, Reply, Source, ToolRequest
from tests.doubles import CannedSandbox, picture

QUESTION = Question("When was this bridge finished?", (picture(60, 40),))
PARTS = "Visual: which bridge is this?\nKnowledge: when was # finished?"
LOOK_ONLY = "Visual: what colour is the kite?\nKnowledge: #"
NOTHING = "Verdict: not informative"
USEFUL = "Finding: it says something\nVerdict: informative"
Given = Observation | ToolError | ConfigError


def answered(text: str, more: str = "") -> str:
    return f"Finding: it is {text}\n{more}Verdict: answerable\nAnswer: {text}"


def hits(*titles: str) -> Observation:
    """What a search gives; the address of each is its title in lower case."""
    rows = [
        {"id": t, "title": t, "text": f"{t} is described", "score": 0.9, "path": t.lower()} for t in titles
    ]
    text = "Knowledge: [\n" + "".join(f"  Title: {t}\n  Content: {t} is described\n" for t in titles) + "]"
    return Observation(text, {"hits": rows}, tuple(Source(t, t.lower()) for t in titles))


def boxes(*labels: str) -> Observation:
    """Boxes side by side in a picture of 60 x 40, the first one the surest."""
    rows = [
        {
            "left": 20.0 * k,
            "top": 0.0,
            "right": 20.0 * k + 18,
            "bottom": 12.0,
            "score": 0.9 - k / 10,
            "label": t,
        }
        for k, t in enumerate(labels)
    ]
    return Observation("boxes", {"boxes": rows})


def observation(key: str, text: str) -> Observation:
    return Observation(text, {key: text})


@dataclass
class FakeTool:
    """A Tool that gives its observations in turn, the last one again and again, and keeps what it was asked."""

    name: str
    gives: Sequence[Given]
    requests: list[ToolRequest] = field(default_factory=list)
    purpose: str = "for tests"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self.requests.append(request)
        given = self.gives[min(len(self.requests), len(self.gives)) - 1]
        if isinstance(given, Exception):
            raise given
        return given


class Stage:
    """Runs the strategy. roles: role -> its replies in turn. tools: tool -> what it gives in turn.

    A planner chooses every step, as in the paper, unless `saves_calls` is among the options.
    """

    def __init__(
        self,
        roles: Mapping[str, Sequence[str | Reply | Exception]],
        tools: Mapping[str, Sequence[Given]],
        *,
        question: Question = QUESTION,
        limits: Limits | None = None,
        **options: Any,
    ) -> None:
        self.events: list[Event] = []
        self.tools = {name: FakeTool(name, tools[name]) for name in TOOLS if name in tools}
        self.models: dict[str, Scripted] = {role: Scripted(replies, role) for role, replies in roles.items()}
        models: dict[str, Model] = {"default": Scripted((), "nobody"), **self.models}
        episode = Episode(
            question, models, limits or Limits(max_turns=80), CannedSandbox(), self._watch, tools=self.tools
        )
        self.answer: Answer = Avis(**{"saves_calls": False} | options).solve(question, episode)
        self.findings = episode.findings

    def _watch(self, event: Event) -> None:
        self.events.append(event)

    def notes(self, label: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if isinstance(event, Note) and event.label == label]

    @property
    def path(self) -> list[str]:
        """The actions taken, with their verdicts' first letters: `vqa n` brought nothing."""
        return [f"{note['action']} {note['verdict'][0]}" for note in self.notes("verdict")]

    @property
    def used(self) -> list[str]:
        return [event.tool for event in self.events if isinstance(event, ToolRun)]

    def request_text(self, role: str, turn: int = 0) -> str:
        """The text of the last message that a role was sent at its turn."""
        return self.models[role].requests[turn][-1].text

    def asked(self, find: Callable[[ModelCall], bool]) -> int:
        return sum(isinstance(event, ModelCall) and find(event) for event in self.events)
