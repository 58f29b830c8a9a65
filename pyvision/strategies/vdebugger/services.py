"""What a program asks of the host, answered by tools: the functions of `host` that image_patch.py names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pyvision.errors import ToolError
from pyvision.images.read import decode
from pyvision.types import Observation, Picture, ToolRequest
from sandbox import Figure

TOOLS = ("detect", "vqa", "match", "depth", "llm_qa")


class Usable(Protocol):
    """The part of an Episode that services need."""

    @property
    def tools(self) -> Mapping[str, object]: ...

    def use(self, tool: str, request: ToolRequest) -> Observation: ...


class Services:
    """The functions for the cells of one question."""

    def __init__(self, episode: Usable) -> None:
        self._episode = episode

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "find": self.find,
            "simple_query": self.simple_query,
            "match": self.match,
            "depth": self.depth,
            "llm_query": self.llm_query,
        }

    def find(self, image: Figure, name: str) -> list[list[float]]:
        """[left, lower, right, upper, score] of each object, in pixels from the bottom left, best first."""
        picture = _picture(image)
        boxes = self._use("detect", "boxes", ToolRequest(text=str(name), picture=picture))
        try:
            turned = [_from_bottom(box, picture.height) for box in boxes]
        except (TypeError, KeyError, ValueError) as error:
            raise ToolError(f"detect: a box that cannot be read ({error!r})") from None
        return sorted(turned, key=lambda box: -box[4])

    def simple_query(self, image: Figure, question: str) -> str:
        return str(self._use("vqa", "answer", ToolRequest(text=str(question), picture=_picture(image))))

    def match(self, image: Figure, texts: list[str]) -> list[float]:
        """One score a text."""
        request = ToolRequest(picture=_picture(image), options={"texts": [str(text) for text in texts]})
        scores = self._use("match", "scores", request)
        if not isinstance(scores, list | tuple) or len(scores) != len(texts):
            raise ToolError(f"match: {len(texts)} texts were given and not as many scores came back")
        return [float(score) for score in scores]

    def depth(self, image: Figure) -> dict[str, Any]:
        """{"depth": rows from the top}, larger is farther."""
        rows = self._use("depth", "depth", ToolRequest(picture=_picture(image)))
        if not (isinstance(rows, list | tuple) and rows and isinstance(rows[0], list | tuple) and rows[0]):
            raise ToolError("depth: a map without cells came back")
        return {"depth": rows}

    def llm_query(self, query: str, context: str = "", long_answer: bool = True) -> str:  # noqa: FBT001, FBT002
        options = {"context": str(context), "long": bool(long_answer)}
        return str(self._use("llm_qa", "answer", ToolRequest(text=str(query), options=options)))

    def _use(self, tool: str, key: str, request: ToolRequest) -> Any:
        if tool not in self._episode.tools:
            known = ", ".join(self._episode.tools) or "none"
            raise ToolError(f"no tool {tool!r} is set up; there are: {known}")
        observation = self._episode.use(tool, request)
        if observation.error is not None:
            raise ToolError(_name(tool, observation.error))
        if not isinstance(observation.data, Mapping) or key not in observation.data:
            raise ToolError(f"{tool}: what came back holds no {key!r}")
        return observation.data[key]


def _name(tool: str, error: str) -> str:
    return error if error.startswith(f"{tool}:") else f"{tool}: {error}"


def _picture(image: object) -> Picture:
    if not isinstance(image, Figure):
        raise ToolError(f"an image was expected, not a {type(image).__name__}")
    return decode(image.data, "patch")


def _from_bottom(box: Mapping[str, Any], height: int) -> list[float]:
    left, top, right, bottom = (float(box[side]) for side in ("left", "top", "right", "bottom"))
    return [left, height - bottom, right, height - top, float(box.get("score", 0.0))]
