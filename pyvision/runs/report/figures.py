"""A picture on the page: opens large by click or key, without any script; and where a crop lies in its original."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyvision.errors import ImageError
from pyvision.images.fit import FitLimits, fit
from pyvision.images.pixels import file_hash
from pyvision.runs.report.crops import Crop, CropFinder
from pyvision.runs.report.markup import Markup, element, join
from pyvision.types import Picture


class Figures:
    """Draws the pictures of one page: each with all its pixels once, and as a link where it turns up again."""

    def __init__(self, gallery: Gallery, inputs: Mapping[str, Picture], finder: CropFinder) -> None:
        self._gallery = gallery
        self.inputs = inputs
        self._finder = finder
        self._anchors: dict[str, str] = {}
        self._used: set[str] = set()
        self._found: set[Crop] = set()

    def show(self, name: str, picture: Picture, *remarks: object) -> Markup:
        """A figure with its name, its size and a way to see it large."""
        shown = self._gallery[picture]
        if shown is None:
            return element("p", f"{name}: this file is no picture that can be shown", class_="bad")
        key = file_hash(picture)
        size = f"{picture.width} × {picture.height} px"
        if key in self._anchors:
            return self._again(name, picture, size, key)
        self._anchors[key] = anchor = f"picture-{len(self._anchors)}"
        image = element(
            "img",
            src=shown.url,
            alt=f"{name}, {size}",
            width=shown.file.width,
            height=shown.file.height,
            decoding="async",
        )
        zoom = element("details", element("summary", image), class_="zoom")
        less = f"shown at {shown.file.width} × {shown.file.height}" if shown.is_reduced else None
        caption = element(
            "figcaption", element("b", name), f" {size}", *(f" · {each}" for each in (less, *remarks) if each)
        )
        return element("figure", zoom, caption, id=anchor)

    def located(self, name: str, picture: Picture) -> Markup:
        """A figure, and beside it where it was cut out of a picture of the question, if that can be found."""
        if file_hash(picture) in self._anchors:
            return self.show(name, picture)
        crop = self._finder.find(picture) if self.inputs else None
        if crop is None:
            return self.show(name, picture, "place in the original: not found" if self.inputs else None)
        self._found.add(replace(crop, factor=1))
        return element(
            "div", self.show(name, picture, place_of(crop)), self._map(crop.name, [crop]), class_="pair"
        )

    def originals(self) -> Markup:
        """Small copies of the pictures in which crops were found, once for all maps that use them."""
        symbols = [
            element("g", _small(picture), id=_original(name))
            for name, picture in self.inputs.items()
            if name in self._used
        ]
        defs = element("svg", element("defs", *symbols), width=0, height=0, aria_hidden="true", class_="defs")
        return defs if symbols else Markup("")

    def glimpse(self, name: str, picture: Picture) -> Markup:
        """A small copy of a picture that a tool looked at, and where it was cut out; it may be one of hundreds."""
        key, size = file_hash(picture), f"{picture.width} × {picture.height} px"
        if key in self._anchors:
            return self._again(name, picture, size, key)
        crop = self._finder.find(picture) if self.inputs else None
        return _thumbnail(name, picture, size, place_of(crop) if crop else None)

    def _again(self, name: str, picture: Picture, size: str, key: str) -> Markup:
        link = element("a", "the same picture as before", href=f"#{self._anchors[key]}")
        return _thumbnail(name, picture, size, link)

    def boxes(self, crops: Sequence[Crop]) -> Markup | None:
        """The boxes that a cell's code names, but for those that were found; each picture once with all its boxes."""
        crops = [crop for crop in crops if replace(crop, factor=1) not in self._found]
        maps = [
            self._map(name, [c for c in crops if c.name == name])
            for name in dict.fromkeys(c.name for c in crops)
        ]
        if not maps:
            return None
        count = f"{len(crops)} box{'es'[: 2 * (len(crops) != 1)]}"
        return element(
            "details",
            element("summary", f"Cuts that the code names: {count}"),
            *maps,
            class_="folded",
            open=True,
        )

    def _map(self, name: str, crops: Sequence[Crop]) -> Markup:
        """A small copy of a picture of the question with boxes in it."""
        self._used.add(name)
        original = self.inputs[name]
        thickness = max(original.width, original.height) / 120
        rects = [
            element(
                "rect",
                x=c.left,
                y=c.top,
                width=c.width,
                height=c.height,
                class_="box",
                stroke_width=thickness,
            )
            for c in crops
        ]
        drawing = element(
            "svg",
            element("title", "; ".join(place_of(crop) for crop in crops)),
            element("use", href=f"#{_original(name)}"),
            *rects,
            viewBox=f"0 0 {original.width} {original.height}",
            role="img",
        )
        return element("figure", drawing, element("figcaption", "in ", element("b", name)), class_="map")


def _thumbnail(name: str, picture: Picture, size: str, remark: object = None) -> Markup:
    small = thumbnail(picture)
    if small is None:
        return element("p", f"{name}: this file is no picture that can be shown", class_="bad")
    image = element("img", src=data_url(small), alt=f"{name}, {size}", width=small.width, height=small.height)
    caption = element("figcaption", element("b", name), f" {size}", *((" · ", remark) if remark else ()))
    return element("figure", image, caption, class_="again")


def place_of(crop: Crop) -> str:
    """The box in words: x from left to right, y from top to bottom, both in pixels of the original."""
    right, bottom = crop.left + crop.width, crop.top + crop.height
    larger = f", {crop.factor} times enlarged" if crop.factor > 1 else ""
    return f"{crop.name} from ({crop.left}, {crop.top}) to ({right}, {bottom}){larger}"


def _original(name: str) -> str:
    return f"original-{name}"


def _small(picture: Picture) -> Markup:
    small = thumbnail(picture)
    if small is None:
        return Markup("")
    return join(
        element(
            "image",
            href=data_url(small),
            width=picture.width,
            height=picture.height,
            preserveAspectRatio="none",
        )
    )


# ---- Every picture of a run once, as the page shows it: smaller where the page would grow too large.


PAGE_BYTES = 21_000_000  # of pictures on one page: 28 MB once they are base64
_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_THUMBNAIL = FitLimits(side_px=360, least_px=1, aspect=1_000_000, file_bytes=60_000)
# From the best to the smallest: the first of which the pictures fit on one page is taken for all.
_LEVELS = tuple(
    FitLimits(side_px=side, least_px=1, aspect=1_000_000, file_bytes=size)
    for side, size in (
        (4096, 4_000_000),
        (2048, 1_000_000),
        (1600, 400_000),
        (1024, 120_000),
        (512, 30_000),
        (256, 8_000),
    )
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as it stands on the page: its own size in pixels, and the file that is shown for it."""

    picture: Picture
    file: Picture

    @property
    def is_reduced(self) -> bool:
        return (self.file.width, self.file.height) != (self.picture.width, self.picture.height)

    @property
    def url(self) -> str:
        return data_url(self.file)


class Gallery:
    """Holds the pictures of one page under the hashes of their bytes."""

    def __init__(self, pictures: Iterable[Picture], page_bytes: int = PAGE_BYTES) -> None:
        unique = {file_hash(picture): picture for picture in pictures}
        self._shown = _fitted(unique, page_bytes)
        self.is_reduced = any(shown.is_reduced for shown in self._shown.values())

    def __getitem__(self, picture: Picture) -> Shown | None:
        """None for what turned out to be no picture."""
        return self._shown.get(file_hash(picture))


def thumbnail(picture: Picture) -> Picture | None:
    """At most 360 pixels wide and high; None for what is no picture."""
    try:
        return fit(picture, _THUMBNAIL).picture
    except ImageError:
        return None


def data_url(picture: Picture) -> str:
    return f"data:{picture.mime};base64,{b64encode(picture.data).decode()}"


def _fitted(pictures: dict[str, Picture], page_bytes: int) -> dict[str, Shown]:
    for level in _LEVELS[:-1]:
        shown = _within(pictures, level, page_bytes)
        if shown is not None:
            return shown
    return {key: found for key, picture in pictures.items() if (found := _at(picture, _LEVELS[-1]))}


def _within(pictures: dict[str, Picture], level: FitLimits, page_bytes: int) -> dict[str, Shown] | None:
    """None as soon as they are too many bytes."""
    shown: dict[str, Shown] = {}
    for key, picture in pictures.items():
        found = _at(picture, level)
        if found:
            shown[key] = found
            page_bytes -= len(found.file.data)
        if page_bytes < 0:
            return None
    return shown


def _at(picture: Picture, level: FitLimits) -> Shown | None:
    if not picture.data.startswith(_STARTS[picture.mime]):
        return None
    try:
        return Shown(picture, fit(picture, level).picture)
    except ImageError:
        return None
