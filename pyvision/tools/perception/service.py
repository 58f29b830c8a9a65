"""A perception tool: its name, its purpose, and who does the work; requests are checked before anyone works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyvision.errors import ImageError, ToolError
from pyvision.types import Ask, Observation, Picture, ToolRequest

Provide: TypeAlias = Callable[[ToolRequest, Ask], Observation]

PURPOSES: Mapping[str, str] = {
    "caption": "says in a sentence what a picture shows",
    "vqa": "answers a simple question about what can be seen in a picture",
    "llm_qa": "answers a question from common knowledge or from a text, without a picture",
    "detect": "finds objects in a picture and tells where they are",
    "match": "tells how well each of several texts fits a picture",
    "depth": "estimates how far away each part of a picture is",
    "ocr": "reads the text in a picture",
}
MOST_TEXTS = 1000  # of one match; verify_property of VDebugger compares with 617


@dataclass(frozen=True, slots=True)
class Service:
    """`provide` raises ToolError when it cannot do it, ConfigError when the user can mend that."""

    name: str
    provide: Provide

    @property
    def purpose(self) -> str:
        return PURPOSES[self.name]

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        try:
            return self.provide(request, ask)
        except ImageError as error:  # a picture of the question, not a setting that the user can mend
            raise ToolError(f"{self.name}: {error}") from error


def picture_of(request: ToolRequest, tool: str) -> Picture:
    """The picture of a request. Raises ToolError where there is none."""
    if request.picture is None:
        raise ToolError(f"{tool}: the request has no picture; give one")
    return request.picture


def text_of(request: ToolRequest, tool: str) -> str:
    """The text of a request. Raises ToolError where it is empty."""
    if not (text := request.text.strip()):
        raise ToolError(f"{tool}: the request has no text; give a question")
    return text


def texts_of(request: ToolRequest, tool: str) -> tuple[str, ...]:
    """The texts to be matched. Raises ToolError unless they are some, not too many, and all texts."""
    texts = request.options.get("texts")
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise ToolError(f"{tool}: options need texts, a list of at least one text; it is {texts!r:.80}")
    if len(texts) > MOST_TEXTS:
        raise ToolError(f"{tool}: {len(texts)} texts are more than {MOST_TEXTS}; give fewer")
    return tuple(texts)


def context_of(request: ToolRequest, tool: str) -> str:
    """The text that a question is about, empty if it is about none. Raises ToolError where it is no text."""
    context = request.options.get("context") or ""
    if not isinstance(context, str):
        raise ToolError(f"{tool}: options context is {context!r:.80}; give a text")
    return context


def is_all(text: str) -> bool:
    """Whether every object is asked for, not those of a name."""
    return text.strip().lower() in ("", "object", "objects")
