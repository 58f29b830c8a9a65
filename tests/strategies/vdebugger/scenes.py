"""Scenes with exact truth, and the tools that tell it: a picture holds its own place, so that a crop tells where it is.

Every pixel says (column, row from the top, number of the scene).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from PIL import Image

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.errors import ToolError
from pyvision.strategies.vdebugger.execution import Services
from pyvision.types import Ask, Observation, Picture, Question, Tool, ToolRequest
from sandbox import Figure
from tests.doubles import CannedSandbox

SIDE = 256


@dataclass(frozen=True, slots=True)
class SceneObject:
    """box: left, top, right, bottom. answers: question -> answer, of a patch that shows it."""

    name: str
    box: tuple[int, int, int, int]
    tags: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    depth: float = 5.0

    def is_called(self, name: str) -> bool:
        return set(name.split()) <= {*self.name.split(), *self.tags.split()}


@dataclass(frozen=True, slots=True)
class Scene:
    """answers, tags: of the whole picture."""

    objects: tuple[SceneObject, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    tags: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a picture shows of a scene."""

    scene: Scene
    left: int
    top: int
    right: int
    bottom: int

    @property
    def objects(self) -> list[SceneObject]:
        """Those whose centre is inside, the largest first."""
        inside = [
            each
            for each in self.scene.objects
            if self.left <= (each.box[0] + each.box[2]) / 2 <= self.right
            and self.top <= (each.box[1] + each.box[3]) / 2 <= self.bottom
        ]
        return sorted(inside, key=lambda each: (each.box[0] - each.box[2]) * (each.box[3] - each.box[1]))

    @property
    def is_whole(self) -> bool:
        return (self.right - self.left, self.bottom - self.top) == (SIDE, SIDE)


class World:
    """Numbered scenes; `image(k)` is the picture of one, `view` reads a picture back."""

    def __init__(self, *scenes: Scene, knowledge: Mapping[str, str] | None = None) -> None:
        self.scenes = scenes
        self.knowledge = knowledge or {}
        self.requests: list[tuple[str, ToolRequest]] = []

    def image(self, number: int = 0) -> Image.Image:
        return _drawn(number)

    def picture(self, number: int = 0) -> Picture:
        sink = io.BytesIO()
        self.image(number).save(sink, "PNG")
        return Picture(sink.getvalue(), "image/png", SIDE, SIDE)

    def view(self, image: Image.Image) -> View:
        corner = image.getpixel((0, 0))
        assert isinstance(corner, tuple)
        left, top, number = (int(each) for each in corner)
        return View(self.scenes[number], left, top, left + image.width, top + image.height)

    @property
    def tools(self) -> dict[str, Tool]:
        return {name: Canned(name, self) for name in ANSWERS}


@lru_cache
def _drawn(number: int) -> Image.Image:
    across = Image.linear_gradient("L")  # 256 x 256, row by row from 0 to 255
    return Image.merge(
        "RGB", (across.transpose(Image.Transpose.ROTATE_90), across, Image.new("L", (SIDE, SIDE), number))
    )


def find(view: View, request: ToolRequest, world: World) -> Any:
    boxes = [
        {
            "left": float(max(0, each.box[0] - view.left)),
            "top": float(max(0, each.box[1] - view.top)),
            "right": float(min(view.right, each.box[2]) - view.left),
            "bottom": float(min(view.bottom, each.box[3]) - view.top),
            "score": 0.9,
            "label": each.name,
        }
        for each in view.objects
        if each.is_called(request.text)
    ]
    return {"boxes": boxes}


def query(view: View, request: ToolRequest, world: World) -> Any:
    question = request.text
    if view.is_whole and question in view.scene.answers:
        return {"answer": view.scene.answers[question]}
    if question.startswith("Is this a "):
        name = question.removeprefix("Is this a ").rstrip("?")
        return {"answer": "yes" if any(each.is_called(name) for each in view.objects) else "no"}
    answers = [each.answers[question] for each in view.objects if question in each.answers]
    return {"answer": answers[0] if answers else "unknown"}


def match(view: View, request: ToolRequest, world: World) -> Any:
    seen = view.objects[0] if view.objects and not view.is_whole else None
    known = {*seen.name.split(), *seen.tags.split()} if seen else set(view.scene.tags.split())
    texts = [text.split() for text in request.options["texts"]]
    return {"scores": [sum(word in known for word in text) / len(text) for text in texts]}


def depth(view: View, request: ToolRequest, world: World) -> Any:
    cells = [[9.0] * 64 for _ in range(64)]
    for each in view.scene.objects:
        left, top, right, bottom = (side // 4 for side in each.box)
        for row in cells[top:bottom]:
            row[left:right] = [each.depth] * (right - left)
    return {"depth": cells, "width": 64, "height": 64}


def knowledge(view: View | None, request: ToolRequest, world: World) -> Any:
    return {"answer": world.knowledge.get(request.text, "unknown")}


class Near:
    """What programs call `host`, in this process: the services of the strategy without a bridge between."""

    def __init__(self, world: World) -> None:
        question = Question("?", ())
        episode = Episode(
            question, {}, Limits(max_seconds=None), CannedSandbox(), lambda event: None, tools=world.tools
        )
        self._functions = Services(episode).functions

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            return self._functions[name](*map(_over_the_bridge, arguments))

        return call


def _over_the_bridge(value: Any) -> Any:
    value = getattr(value, "pillow", value)
    if not isinstance(value, Image.Image):
        return value
    sink = io.BytesIO()
    value.save(sink, "PNG")
    return Figure(sink.getvalue(), "image/png", value.width, value.height)


ANSWERS: Mapping[str, Any] = {
    "detect": find,
    "vqa": query,
    "match": match,
    "depth": depth,
    "llm_qa": knowledge,
}


class Canned:
    """A tool that tells the truth of a world."""

    purpose = "tells the truth of a scene"

    def __init__(self, name: str, world: World) -> None:
        self.name = name
        self._world = world

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self._world.requests.append((self.name, request))
        view = None
        if request.picture is not None:
            with Image.open(io.BytesIO(request.picture.data)) as image:
                view = self._world.view(image)
        return Observation(text=self.name, data=ANSWERS[self.name](view, request, self._world))


class Broken:
    """A tool that fails, or raises what it is given."""

    purpose = "fails"

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.name = name
        self._error = error or ToolError("the service is down")

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        raise self._error
