"""A strategy driven by scripted replies, with real cells and the tools of a world of scenes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.events import Event, ModelCall, Note
from pyvision.models.scripted import Scripted
from pyvision.strategies.vdebugger import VDebugger
from pyvision.types import Answer, Question, Reply, Tool
from sandbox import CellResult, HostFunction, Session, View
from tests.strategies.vdebugger.scenes import Scene, SceneObject, World

CUPS = Scene(tuple(SceneObject("cup", (20 + 60 * at, 100, 50 + 60 * at, 140)) for at in range(3)))


def program(body: str, signature: str = "def execute_command(image) -> str:") -> str:
    return "\n".join([signature, *(f"    {line}" for line in body.splitlines())])


GOOD = program("cups = ImagePatch(image).find('cup')\nreturn str(len(cups))")
BAD = program("cups = ImagePatch(image).find('cup')\nreturn str(len(plates))")
PAPER = VDebugger(critic_on_error=True, one_reply=False)
MARKED = "wrong\n" + BAD.replace("plates", "<<<BUG>>>plates<<<BUG/>>>")


class OneSession:
    """A sandbox that has one kernel for all questions: a new one each would take most of the time of these tests."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def warm_up(self) -> None:
        """It is."""

    def open(self, images: Mapping[str, bytes]) -> OneSession:
        self.define(images)
        return self

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        return self._session.run(code, trace=trace, functions=functions, on_output=on_output)

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        self._session.define(images, views)

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        """The next question uses it."""


@dataclass
class Stage:
    """What a question is asked of; `solve` keeps what happened."""

    sandbox: AnySandbox
    world: World = field(default_factory=lambda: World(CUPS))
    tools: Mapping[str, Tool] | None = None
    limits: Limits = field(default_factory=Limits)
    events: list[Event] = field(default_factory=list)
    model: Scripted = field(default_factory=lambda: Scripted([]))
    findings: Mapping[str, Any] = field(default_factory=dict)

    def solve(
        self,
        replies: Sequence[str | Reply | Exception],
        strategy: VDebugger | None = None,
        text: str = "How many cups are there?",
        images: int = 1,
    ) -> Answer:
        question = Question(text, tuple(self.world.picture(number) for number in range(images)))
        self.model = Scripted(replies)
        tools = self.world.tools if self.tools is None else self.tools
        models = {"default": self.model}
        with closing(
            Episode(question, models, self.limits, self.sandbox, self.events.append, tools=tools)
        ) as episode:
            answer = (strategy or PAPER).solve(question, episode)
            self.findings = episode.findings
            return answer

    def notes(self, label: str) -> list[dict[str, Any]]:
        return [each.data for each in self.events if isinstance(each, Note) and each.label == label]

    @property
    def roles(self) -> list[str]:
        return [each.role for each in self.events if isinstance(each, ModelCall)]

    def request_text(self, turn: int) -> str:
        return self.model.requests[turn][-1].text
