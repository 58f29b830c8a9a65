"""What a person can do on the study page: the tool behind each button, and the action that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

About: TypeAlias = Literal["picture", "object", "question", "text"]

SELECTION = "object_select"
AFTER_SELECTION = ("image_search",)  # who searches with an object has selected it, without a click of its own


@dataclass(frozen=True, slots=True)
class Action:
    """One button. about: the whole picture, one object in it, a question about the picture, or a text alone.

    tools: the first one that is set up is used. action: of the transition graph; None for what is only context.
    """

    name: str
    label: str
    about: About
    tools: tuple[str, ...]
    action: str | None


_ROWS = (
    Action("caption", "Caption", "picture", ("caption",), None),
    Action("identical", "Identical pictures", "picture", ("identical_image",), "identical_image_search"),
    Action("entities", "What is it?", "object", ("identical_image",), "object_select"),
    Action("read", "Text on it", "object", ("ocr",), "object_select"),
    Action("similar", "Similar pictures", "object", ("similar_image",), "image_search"),
    Action("vqa", "Ask about the picture", "question", ("vqa",), "vqa"),
    Action("llm_qa", "Ask without the picture", "text", ("llm_qa",), "llm_qa"),
    Action("search", "Search", "text", ("web_search", "document"), "web_search"),
)
ACTIONS: Mapping[str, Action] = {action.name: action for action in _ROWS}
DETECT = "detect"
TOOLS = tuple(dict.fromkeys((DETECT, *(tool for action in _ROWS for tool in action.tools))))
"""Every tool that the page can use."""
