"""The buttons of the study page, the tools behind them, and the models that these tools ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

from pyvision.agent.budget import Limits
from pyvision.agent.episode import DEFAULT_ROLE, Episode
from pyvision.errors import ConfigError, PyVisionError, suggest
from pyvision.models.factory import ResolvedModel, resolve_model
from pyvision.tools.registry import build_tools
from pyvision.types import Observation, Question, Tool, ToolRequest
from sandbox import SandboxError

About: TypeAlias = Literal["image", "object", "question", "text"]

DETECT = "detect"
SELECTION = "object_select"
AFTER_SELECTION = ("image_search",)  # searching with an object implies selecting it, without a separate click
_LIMITS = Limits(max_turns=10, max_seconds=300.0)  # of one click: a participant waits for it


@dataclass(frozen=True, slots=True)
class Button:
    """One button. about: the whole image, one object in it, a question about the image, or a text alone.

    tools: the first available one is used. action: in the transition graph; None if the tool only adds context.
    """

    name: str
    label: str
    about: About
    tools: tuple[str, ...]
    action: str | None


_ROWS = (
    Button("caption", "Caption", "image", ("caption",), None),
    Button("identical", "Identical images", "image", ("identical_image",), "identical_image_search"),
    Button("entities", "What is it?", "object", ("identical_image",), "object_select"),
    Button("read", "Text on it", "object", ("ocr",), "object_select"),
    Button("similar", "Similar images", "object", ("similar_image",), "image_search"),
    Button("vqa", "Ask about the image", "question", ("vqa",), "vqa"),
    Button("llm_qa", "Ask without the image", "text", ("llm_qa",), "llm_qa"),
    Button("search", "Search", "text", ("web_search", "document"), "web_search"),
)
BUTTONS: Mapping[str, Button] = {button.name: button for button in _ROWS}
TOOLS = tuple(dict.fromkeys((DETECT, *(tool for button in _ROWS for tool in button.tools))))
"""Every tool that the page can use."""


@dataclass(frozen=True, slots=True)
class StudyToolbox:
    """tools: the available ones, by name. unavailable: why each of the others is missing, one line per tool."""

    tools: Mapping[str, Tool]
    resolved_models: Mapping[str, ResolvedModel] = field(default_factory=dict)
    unavailable: tuple[str, ...] = ()

    def tool_of(self, button: str) -> str | None:
        """The tool behind a button; None if none of its tools is available."""
        return next((tool for tool in BUTTONS[button].tools if tool in self.tools), None)

    def call_tool(self, tool: str, request: ToolRequest) -> Observation:
        """Call a tool with a fresh budget. A failure is returned in `Observation.error`, not raised."""
        models = {role: resolved.model for role, resolved in self.resolved_models.items()}
        accepts = {role: resolved.accepts for role, resolved in self.resolved_models.items()}
        question = Question(request.text, (request.picture,) if request.picture else ())
        episode = Episode(question, models, _LIMITS, _NoKernel(), _ignore, accepts=accepts, tools=self.tools)
        try:
            return episode.call_tool(tool, request)
        except PyVisionError as error:
            return Observation(error=str(error))

    def close(self) -> None:
        """Close the models that were built for the toolbox."""
        for resolved in self.resolved_models.values():
            resolved.close()


def find_toolbox(
    model: str | None, config: Path | None, roles: Mapping[str, str], chosen: Mapping[str, str]
) -> StudyToolbox:
    """Set up every tool that can be set up. chosen: tool -> PROVIDER[:WHERE]; these must work, others may be missing.

    roles: the role in which a tool asks a model -> the name of that model. Raises ConfigError.
    """
    for name in chosen:
        if name not in TOOLS:
            raise ConfigError(f"unknown tool {name!r}; {suggest(name, TOOLS, 'the tools of the page are')}")
    default = resolve_model(None if config else model, config)
    resolved_models = {DEFAULT_ROLE: default} | {role: resolve_model(name) for role, name in roles.items()}
    tools: dict[str, Tool] = {}
    unavailable: list[str] = []
    for name in TOOLS:
        given = {name: chosen[name]} if name in chosen else {}
        try:
            tools |= build_tools((name,), given, is_offline=default.is_offline)
        except ConfigError as error:
            if given:
                raise
            unavailable.append(f"{name}: {error}")
    return StudyToolbox(tools, resolved_models, tuple(unavailable))


class _NoKernel:
    """The kernel source of an episode in which no tool runs a cell."""

    def warm_up(self) -> None:
        """There is nothing to start."""

    def open(self, images: Mapping[str, bytes]) -> NoReturn:
        raise SandboxError(f"the study page runs no cells ({len(images)} images)")


def _ignore(event: object) -> None:
    """The study log records the tool call instead."""
