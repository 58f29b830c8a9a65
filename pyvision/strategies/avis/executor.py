"""Take an action: the request that its tool gets, and what came of it in one form."""

from __future__ import annotations

from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.strategies.avis.actions import Action
from pyvision.strategies.avis.memory import Node
from pyvision.strategies.avis.perception import DetectedObject, Scene
from pyvision.strategies.avis.reasoner import choose, known
from pyvision.strategies.avis.reply_parsing import Plan
from pyvision.strategies.avis.toolbox import Toolbox, hits_of
from pyvision.types import Observation, Source, ToolRequest


@dataclass(frozen=True, slots=True)
class Outcome:
    """text: what the reasoner is to judge; empty where there is nothing, and `why` says so. thing: what was chosen."""

    text: str = ""
    why: str = ""
    sources: tuple[Source, ...] = ()
    detected: DetectedObject | None = None
    think: str = ""


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    """All that actions are taken with."""

    episode: Episode
    toolbox: Toolbox
    scene: Scene

    def can(self, action: Action, node: Node) -> bool:
        """Whether a tool is there, and what it is to look at."""
        if self.toolbox.tool_of(action) is None:
            return False
        match action:
            case "object_select":
                return any(detected.number not in node.rejected for detected in self.scene.objects)
            case "vqa" | "identical_image_search" | "image_search":
                return self.scene.picture is not None
            case _:
                return True

    def key(self, plan: Plan, node: Node) -> tuple[object, ...] | None:
        """Equal for actions that would bring the same again; None for one that chooses anew."""
        if plan.action == "object_select":
            return None
        focus = node.focus if plan.action == "image_search" else None
        return plan.action, " ".join((plan.query or "").casefold().split()), focus, node.query

    def act(self, plan: Plan, node: Node) -> Outcome:
        """Take a feasible action."""
        tool = self.toolbox.tool_of(plan.action) or ""
        match plan.action:
            case "object_select":
                return self._select(node)
            case "identical_image_search":
                request = ToolRequest(picture=self.scene.picture)
            case "image_search":
                seen = self.scene.picture if node.focus is None else self.scene.detected(node.focus).picture
                request = ToolRequest(picture=seen)
            case "vqa":
                request = ToolRequest(plan.query or node.query, self.scene.picture)
            case "web_search":
                request = ToolRequest(plan.query or node.query)
            case "llm_qa":
                context = "" if not node.findings else known(node)
                request = ToolRequest(plan.query or node.query, options={"context": context, "long": False})
        return _outcome(self.toolbox.use(tool, request))

    def _select(self, node: Node) -> Outcome:
        left = [detected for detected in self.scene.objects if detected.number not in node.rejected]
        detected, think = choose(node, left, self.episode)
        return Outcome(detected.block(), detected=detected, think=think) if detected else Outcome(why=think)


def _outcome(seen: Observation) -> Outcome:
    if seen.error is not None:
        return Outcome(why=seen.error)
    searched = isinstance(seen.data, dict) and "hits" in seen.data
    if not seen.text.strip() or (searched and not hits_of(seen)):
        return Outcome(why="the tool found nothing")
    return Outcome(seen.text, sources=seen.sources)
