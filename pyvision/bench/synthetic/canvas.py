"""Draw anti-aliased images that are byte-identical wherever the same version of Pillow draws them.

Images are drawn `fine` times too large and reduced by whole factors. Text is set in Pillow's own typeface by its
basic layout engine: the other one depends on a library that may be missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

RGB: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[int, int, int, int]
Pixels: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"

_SPRITE_FINE = 8


class Canvas:
    """A page and its pen. All lengths are in pixels of the finished image, from its top left corner, x first."""

    def __init__(self, width: int, height: int, paper: RGB = (255, 255, 255), fine: int = 3) -> None:
        from PIL import Image as ImageModule
        from PIL import ImageDraw

        self.width, self.height, self._fine = width, height, fine
        self._page = ImageModule.new("RGB", (width * fine, height * fine), paper)
        self._brush = ImageDraw.Draw(self._page)
        self._reduced: Image | None = None

    def ellipse(
        self, box: Sequence[float], *, fill: RGB | None = None, line: RGB | None = None, width: float = 1
    ) -> None:
        """An ellipse that fills [left, top, right, bottom]; its outline is centred on the edge."""
        reach = width / 2 if line else 0
        left, top, right, bottom = box
        self._pen.ellipse(
            self._scale_box(left - reach, top - reach, right + reach, bottom + reach),
            fill=fill, outline=line, width=max(1, round(width * self._fine)) if line else 0,
        )  # fmt: skip

    def disc(
        self,
        centre: Point,
        radius: float,
        *,
        fill: RGB | None = None,
        line: RGB | None = None,
        width: float = 1,
    ) -> None:
        """A disc, or the outline of one."""
        x, y = centre
        self.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill, line=line, width=width)

    def sector(self, centre: Point, radius: float, turns: tuple[float, float], fill: RGB) -> None:
        """A pie slice between two fractions of a full turn, clockwise from the top, edged in white."""
        (x, y), (start, end) = centre, turns
        box = self._scale_box(x - radius, y - radius, x + radius, y + radius)
        angles = start * 360 - 90, end * 360 - 90
        self._pen.pieslice(box, *angles, fill=fill, outline=(255, 255, 255), width=self._fine)

    def polygon(
        self, points: Sequence[Point], *, fill: RGB | None = None, line: RGB | None = None, width: float = 1
    ) -> None:
        """A filled polygon, or the outline of one."""
        if fill:
            self._pen.polygon(self._scale(points), fill=fill)
        if line:
            self.stroke([*points, points[0], points[1]], line, width)

    def rectangle(self, box: Sequence[float], *, fill: RGB | None = None, line: RGB | None = None) -> None:
        """A rectangle from [left, top] to [right, bottom], exclusive; its outline is the innermost pixel."""
        left, top, right, bottom = (round(value * self._fine) for value in box)
        edge = self._fine if line else 0
        self._pen.rectangle((left, top, right - 1, bottom - 1), fill=fill, outline=line, width=edge)

    def stroke(self, points: Sequence[Point], ink: RGB, width: float) -> None:
        """A polyline with round joints."""
        self._pen.line(self._scale(points), fill=ink, width=max(1, round(width * self._fine)), joint="curve")

    def text(
        self,
        at: Point,
        text: str,
        size: float,
        *,
        anchor: str = "mm",
        bold: float = 0.0,
    ) -> Box:
        """Black text at a point by Pillow's anchors, `size` pixels to the em; returns the box of its ink.

        bold: pixels by which strokes grow on each side.
        """
        fine, font = self._fine, _font(round(size * self._fine))
        place, grow = (at[0] * fine, at[1] * fine), round(bold * fine)
        self._pen.text(place, text, fill=(0, 0, 0), font=font, anchor=anchor, stroke_width=grow)
        left, top, right, bottom = self._pen.textbbox(
            place, text, font=font, anchor=anchor, stroke_width=grow
        )
        return int(left // fine), int(top // fine), int(-(-right // fine)), int(-(-bottom // fine))

    def stamp(self, sprite: Image, at: tuple[int, int], ink: RGB) -> None:
        """Ink through the mask of a sprite whose top left corner is `at`. Only for a canvas of fine 1."""
        self._page.paste(ink, (at[0], at[1], at[0] + sprite.width, at[1] + sprite.height), sprite)

    def pixels(self, box: Box | None = None) -> Pixels:
        """The finished image, or a box of it, as 8-bit RGB of shape (height, width, 3)."""
        import numpy as np

        page = self._reduce()
        return np.asarray(page.crop(box) if box else page)

    def png(self) -> bytes:
        """The finished image as a lossless PNG."""
        return self._save("PNG", optimize=False, compress_level=6)

    def jpeg(self) -> bytes:
        """The finished image as a high-quality JPEG without chroma subsampling."""
        return self._save("JPEG", quality=92, subsampling=0)

    def _save(self, kind: str, **settings: Any) -> bytes:
        file = BytesIO()
        self._reduce().save(file, kind, **settings)
        return file.getvalue()

    @property
    def _pen(self) -> ImageDraw:
        """The pen; using it invalidates the reduced image."""
        self._reduced = None
        return self._brush

    def _reduce(self) -> Image:
        if self._fine == 1:
            return self._page
        if self._reduced is None:
            self._reduced = self._page.reduce(self._fine)
        return self._reduced

    def _scale(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self._fine, y * self._fine) for x, y in points]

    def _scale_box(self, left: float, top: float, right: float, bottom: float) -> list[float]:
        # Pillow's boxes include their last pixel.
        return [left * self._fine, top * self._fine, right * self._fine - 1, bottom * self._fine - 1]


def text_width(text: str, size: float) -> float:
    """How far a line of this text advances, in pixels at `size` pixels to the em."""
    return _font(round(size * _SPRITE_FINE)).getlength(text) / _SPRITE_FINE


def shape_sprite(points: Sequence[Point], side: int) -> Image:
    """A mask of side x side pixels with a filled polygon; the points are in those pixels."""
    return _shape_sprite(tuple(points), side)


@cache
def _shape_sprite(points: tuple[Point, ...], side: int) -> Image:
    from PIL import Image, ImageDraw

    page = Image.new("L", (side * _SPRITE_FINE, side * _SPRITE_FINE))
    ImageDraw.Draw(page).polygon([(x * _SPRITE_FINE, y * _SPRITE_FINE) for x, y in points], fill=255)
    return page.reduce(_SPRITE_FINE)


@cache
def text_sprite(text: str, size: int) -> Image:
    """A mask, cropped to its ink, with one line of text at `size` pixels to the em."""
    from PIL import Image, ImageDraw

    font = _font(size)
    left, top, right, bottom = (round(value) for value in font.getbbox(text))
    page = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(page).text((-left, -top), text, fill=255, font=font)
    return page


@cache
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    face = ImageFont.load_default(size)
    if not isinstance(face, ImageFont.FreeTypeFont):
        raise TypeError(
            f"Pillow's own typeface is a {type(face).__name__} here; install Pillow with FreeType"
        )
    return face.font_variant(layout_engine=ImageFont.Layout.BASIC)
