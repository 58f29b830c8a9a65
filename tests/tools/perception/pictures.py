"""Drawings with known contents, and small real tools and models to perceive them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from pyvision.types import Ask, Message, Observation, Picture, Reply, ToolRequest


def picture_of(image: Image.Image) -> Picture:
    file = BytesIO()
    image.save(file, "PNG")
    return Picture(file.getvalue(), "image/png", image.width, image.height)


def drawn(draw: Callable[[ImageDraw.ImageDraw], object], width: int = 240, height: int = 160) -> Picture:
    """A white page with something drawn on it."""
    page = Image.new("RGB", (width, height), "white")
    draw(ImageDraw.Draw(page))
    return picture_of(page)


def two_circles_and_a_square() -> Picture:
    """Red circles at the left (20, 20, 80, 80) and the right (160, 60, 200, 100), a blue square (90, 100, 130, 140)."""

    def draw(page: ImageDraw.ImageDraw) -> None:
        page.ellipse((20, 20, 79, 79), fill=(220, 30, 30))
        page.ellipse((160, 60, 199, 99), fill=(220, 30, 30))
        page.rectangle((90, 100, 129, 139), fill=(30, 60, 220))

    return drawn(draw)


def written(text: str, size_px: int = 36) -> Picture:
    from matplotlib import get_data_path

    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", size_px)
    return drawn(lambda page: page.text((20, 20), text, font=font, fill="black"), 600, 300)


def photograph(width: int = 300, height: int = 200) -> Picture:
    """A blue upper half, a green lower one, and grain over both."""
    import numpy

    grain = numpy.random.default_rng(0).normal(0, 14, (height, width, 3))
    base = numpy.zeros((height, width, 3))
    base[: height // 2], base[height // 2 :] = (60, 90, 200), (70, 150, 60)
    slope = numpy.linspace(-25, 25, width)[None, :, None]
    return picture_of(Image.fromarray((base + grain + slope).clip(0, 255).astype(numpy.uint8)))


@dataclass(frozen=True, slots=True)
class FakeTool:
    """A tool that says what it was told to."""

    name: str
    text: str = "something"

    @property
    def purpose(self) -> str:
        return "says what it was told"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        return Observation(self.text)


class Answering:
    """A model in each role that always says the same, and keeps what it was asked; safe between threads."""

    def __init__(self, replies: Mapping[str, str | Reply]) -> None:
        self.asked: list[tuple[str, tuple[Message, ...]]] = []
        self._replies = replies

    def __call__(self, role: str, messages: Sequence[Message]) -> Reply:
        self.asked.append((role, tuple(messages)))
        reply = self._replies[role]
        return Reply(reply) if isinstance(reply, str) else reply

    @property
    def prompt(self) -> str:
        """The text of the last request."""
        return self.asked[-1][1][-1].text


def nobody(role: str, messages: Sequence[Message]) -> Reply:
    """For tools that ask no model."""
    raise AssertionError(f"{role} was asked")
