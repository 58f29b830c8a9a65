"""The actions that a planner may take: which tool does each, what it needs, and which ablation takes it away."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.text.prompts import load

Action: TypeAlias = Literal[
    "vqa", "object_select", "identical_image_search", "image_search", "web_search", "llm_qa"
]
Group: TypeAlias = Literal["none", "vqa", "object", "search"]


@dataclass(frozen=True, slots=True)
class Row:
    """One action. tools: the first of them that is set up does it. group: the ablation of the paper's tables 1 and 2
    that it belongs to, as we read it: they name groups, not members. takes_query: it is asked a text.
    """

    tools: tuple[str, ...]
    group: Group
    needs_picture: bool
    takes_query: bool


ACTIONS: Mapping[Action, Row] = {
    "vqa": Row(("vqa",), "vqa", needs_picture=True, takes_query=True),
    "object_select": Row(("detect",), "object", needs_picture=True, takes_query=False),
    "identical_image_search": Row(("identical_image",), "object", needs_picture=True, takes_query=False),
    "image_search": Row(("similar_image",), "object", needs_picture=True, takes_query=False),
    "web_search": Row(("web_search", "document"), "search", needs_picture=False, takes_query=True),
    "llm_qa": Row(("llm_qa",), "none", needs_picture=False, takes_query=True),
}
LOOKING: Mapping[str, Group] = {
    "caption": "vqa",
    "detect": "object",
    "ocr": "none",
}  # tools of the first look
TOOLS = (
    "caption",
    "vqa",
    "llm_qa",
    "detect",
    "ocr",
    "identical_image",
    "similar_image",
    "document",
    "web_search",
)


def tool_of(action: Action, tools: Collection[str]) -> str | None:
    """The tool that does an action, of those that are set up."""
    return next((name for name in ACTIONS[action].tools if name in tools), None)


def purposes() -> dict[str, str]:
    """What a planner is told of each action: prompts/avis/actions.json."""
    told = json.loads(load("avis/actions.json"))
    return {name: str(told[name]) for name in ACTIONS}
