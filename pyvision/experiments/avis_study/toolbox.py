"""The tools of a study and the models behind them; whatever goes wrong with one is told, never raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

from pyvision.agent.budget import Limits
from pyvision.agent.episode import DEFAULT_ROLE, Episode
from pyvision.errors import ConfigError, PyVisionError
from pyvision.models.factory import ResolvedModel, resolve_model
from pyvision.tools.registry import build_tools
from pyvision.types import Observation, Question, Tool, ToolRequest
from sandbox import SandboxError

_ONE_USE = Limits(max_turns=10, max_seconds=300.0)  # a person waits for it


@dataclass(frozen=True, slots=True)
class Toolbox:
    """tools: those that are set up, by name. left_out: why others are not, a line each."""

    tools: Mapping[str, Tool]
    resolved_models: Mapping[str, ResolvedModel] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def tool_of(self, action: str) -> str | None:
        """The tool behind a button; None where none that could be is set up."""
        return next((tool for tool in BUTTONS[action].tools if tool in self.tools), None)

    def use(self, tool: str, request: ToolRequest) -> Observation:
        """What the tool makes of it, on a budget of its own; its `error` says what went wrong."""
        models = {role: resolved.model for role, resolved in self.resolved_models.items()}
        accepts = {role: resolved.accepts for role, resolved in self.resolved_models.items()}
        question = Question(request.text, (request.picture,) if request.picture else ())
        episode = Episode(question, models, _ONE_USE, _NoKernel(), _unseen, accepts=accepts, tools=self.tools)
        try:
            return episode.use(tool, request)
        except PyVisionError as error:
            return Observation(error=str(error))

    def close(self) -> None:
        """Close the models that were built for it."""
        for resolved in self.resolved_models.values():
            resolved.close()


def find_toolbox(
    model: str | None, config: Path | None, roles: Mapping[str, str], chosen: Mapping[str, str]
) -> Toolbox:
    """chosen: tool -> PROVIDER[:WHERE]; a tool that somebody chose must be usable, another one may be missing.

    roles: the role under which a tool asks -> the model that plays it. Raises ConfigError.
    """
    for name in chosen:
        if name not in TOOLS:
            raise ConfigError(f"unknown tool {name!r}; the tools of the page are {', '.join(TOOLS)}")
    default = resolve_model(None if config else model, config)
    resolved_models = {DEFAULT_ROLE: default} | {role: resolve_model(name) for role, name in roles.items()}
    tools: dict[str, Tool] = {}
    left_out: list[str] = []
    for name in TOOLS:
        given = {name: chosen[name]} if name in chosen else {}
        try:
            tools |= build_tools((name,), given, is_offline=default.is_offline)
        except ConfigError as error:
            if given:
                raise
            left_out.append(f"{name}: {error}")
    return Toolbox(tools, resolved_models, tuple(left_out))


class _NoKernel:
    """Where a kernel would come from; no tool runs a cell."""

    def warm_up(self) -> None:
        """Nothing is to be started."""

    def open(self, images: Mapping[str, bytes]) -> NoReturn:
        raise SandboxError(f"no cell runs on the study page ({len(images)} pictures)")


def _unseen(event: object) -> None:
    """The log of the study has a line of its own for it."""


# ---- What a person can do on the study page: the tool behind each button, and the action that it stands for.


About: TypeAlias = Literal["picture", "object", "question", "text"]

SELECTION = "object_select"
AFTER_SELECTION = ("image_search",)  # who searches with an object has selected it, without a click of its own


@dataclass(frozen=True, slots=True)
class Button:
    """One button. about: the whole picture, one object in it, a question about the picture, or a text alone.

    tools: the first one that is set up is used. action: of the transition graph; None for what is only context.
    """

    name: str
    label: str
    about: About
    tools: tuple[str, ...]
    action: str | None


_ROWS = (
    Button("caption", "Caption", "picture", ("caption",), None),
    Button("identical", "Identical pictures", "picture", ("identical_image",), "identical_image_search"),
    Button("entities", "What is it?", "object", ("identical_image",), "object_select"),
    Button("read", "Text on it", "object", ("ocr",), "object_select"),
    Button("similar", "Similar pictures", "object", ("similar_image",), "image_search"),
    Button("vqa", "Ask about the picture", "question", ("vqa",), "vqa"),
    Button("llm_qa", "Ask without the picture", "text", ("llm_qa",), "llm_qa"),
    Button("search", "Search", "text", ("web_search", "document"), "web_search"),
)
BUTTONS: Mapping[str, Button] = {action.name: action for action in _ROWS}
DETECT = "detect"
TOOLS = tuple(dict.fromkeys((DETECT, *(tool for action in _ROWS for tool in action.tools))))
"""Every tool that the page can use."""
