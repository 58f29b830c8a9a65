"""Images on a page: enlarged by click or key, reduced where the page would grow too large, with the place of crops."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyvision.errors import ImageError
from pyvision.images.fit import FitLimits, fit
from pyvision.images.pixels import file_hash
from pyvision.pages.markup import Markup, count, element
from pyvision.runs.report.crops import Crop, CropFinder
from pyvision.types import Picture

PAGE_BYTES = 21_000_000  # for the images of one page: 28 MB as base64
_SIGNATURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_THUMBNAIL = FitLimits(side_px=360, least_px=1, aspect=1_000_000, file_bytes=60_000)
# From the best to the smallest: all images are shown at the first level at which they fit on one page.
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
class PageImage:
    """An image and the file that the page shows for it."""

    picture: Picture
    file: Picture

    @property
    def is_reduced(self) -> bool:
        return (self.file.width, self.file.height) != (self.picture.width, self.picture.height)

    @property
    def url(self) -> str:
        return data_url(self.file)


class PageImages:
    """The images of one page, each once, by the hash of their bytes."""

    def __init__(self, pictures: Iterable[Picture], page_bytes: int = PAGE_BYTES) -> None:
        unique = {file_hash(picture): picture for picture in pictures}
        self._images = _fit_page(unique, page_bytes)
        self.is_reduced = any(image.is_reduced for image in self._images.values())

    def __getitem__(self, picture: Picture) -> PageImage | None:
        """None for a file that is not an image."""
        return self._images.get(file_hash(picture))


class Figures:
    """Renders the images of one report: each in full once, and as a thumbnail with a link after that."""

    def __init__(
        self,
        gallery: PageImages,
        inputs: Mapping[str, Picture],
        finder: CropFinder,
        sent: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """sent: the width and height at which a model saw an image, by its name."""
        self._gallery = gallery
        self._sent = sent or {}
        self.inputs = inputs
        self._finder = finder
        self._anchors: dict[str, str] = {}
        self._mapped: set[str] = set()  # names of the images of which a map is drawn
        self._found: set[Crop] = set()

    def show(self, name: str, picture: Picture, remark: str | None = None) -> Markup:
        """A figure with its name and size, to be enlarged by click or key."""
        image = self._gallery[picture]
        if image is None:
            return _not_an_image(name)
        key = file_hash(picture)
        if key in self._anchors:
            return self._repeat(name, picture, key)
        self._anchors[key] = anchor = f"picture-{len(self._anchors)}"
        file = image.file
        sent = self._sent.get(name, (picture.width, picture.height))
        seen = f"sent at {sent[0]} × {sent[1]}" if sent != (picture.width, picture.height) else None
        less = "smaller on this page" if image.is_reduced else None
        return zoomable(
            name,
            picture,
            image.url,
            *filter(None, (seen, less, remark)),
            file=file,
            anchor=anchor,
        )

    def figure(self, name: str, picture: Picture) -> Markup:
        """A figure of a cell, beside a map of the crop that it shows if that can be found."""
        if file_hash(picture) in self._anchors:
            return self.show(name, picture)
        crop = self._finder.find(picture) if self.inputs else None
        if crop is None:
            return self.show(name, picture, "place in the original not found" if self.inputs else None)
        self._found.add(replace(crop, factor=1))
        return element("div", self.show(name, picture, str(crop)), self.map(crop.name, [crop]), class_="pair")

    def thumbnail(self, name: str, picture: Picture) -> Markup:
        """A small copy of an image that a tool looked at, with the place of the crop; there may be hundreds."""
        key = file_hash(picture)
        if key in self._anchors:
            return self._repeat(name, picture, key)
        crop = self._finder.find(picture) if self.inputs else None
        return _thumbnail(name, picture, str(crop) if crop else None)

    def boxes(self, crops: Sequence[Crop], title: str = "Crops in the code") -> Markup | None:
        """Maps of the boxes in the code of a cell, without those that its figures already show."""
        crops = [crop for crop in crops if replace(crop, factor=1) not in self._found]
        by_name = {crop.name: [other for other in crops if other.name == crop.name] for crop in crops}
        if not by_name:
            return None
        summary = element("summary", f"{title}: {count(len(crops), 'box')}")
        maps = [self.map(name, each) for name, each in by_name.items()]
        return element("details", summary, *maps, class_="folded", open=True)

    def originals(self) -> Markup | None:
        """Small copies of the images of which maps are drawn, once for all maps that use them."""
        copies = [
            element("g", _small_copy(picture), id=_id_of_copy(name))
            for name, picture in self.inputs.items()
            if name in self._mapped
        ]
        if not copies:
            return None
        return element("svg", element("defs", *copies), width=0, height=0, aria_hidden="true", class_="defs")

    def _repeat(self, name: str, picture: Picture, key: str) -> Markup:
        return _thumbnail(
            name, picture, element("a", "the same image as before", href=f"#{self._anchors[key]}")
        )

    def map(self, name: str, crops: Sequence[Crop]) -> Markup:
        """A small copy of an image of the question with boxes in it."""
        self._mapped.add(name)
        copy = element("use", href=f"#{_id_of_copy(name)}")
        return draw_map(name, self.inputs[name], copy, crops)


def draw_map(name: str, original: Picture, copy: Markup, crops: Sequence[Crop]) -> Markup:
    """Boxes on an image. copy: the SVG element that draws it at its full size."""
    stroke = max(original.width, original.height) / 120
    boxes = [
        element("rect", x=c.left, y=c.top, width=c.width, height=c.height, class_="box", stroke_width=stroke)
        for c in crops
    ]
    drawing = element(
        "svg",
        element("title", "; ".join(map(str, crops))),
        copy,
        *boxes,
        viewBox=f"0 0 {original.width} {original.height}",
        role="img",
    )
    return element("figure", drawing, element("figcaption", "in ", element("b", name)), class_="map")


def zoomable(
    name: str,
    picture: Picture,
    url: str,
    *remarks: object,
    file: Picture | None = None,
    anchor: str | None = None,
    **attributes: object,
) -> Markup:
    """A figure that a click or key enlarges, without any script. file: the one at the URL, where it is smaller."""
    size = {"width": file.width, "height": file.height} if file else {}
    image = element("img", src=url, alt=f"{name}, {_size(picture)}", **size, **attributes)
    zoom = element("details", element("summary", image), class_="zoom")
    return element("figure", zoom, _caption(name, picture, *remarks), id=anchor)


def _caption(name: str, picture: Picture, *remarks: object) -> Markup:
    parts = [part for remark in remarks for part in (" · ", remark)]
    return element("figcaption", element("b", name), f" {_size(picture)}", *parts)


def _size(picture: Picture) -> str:
    return f"{picture.width} × {picture.height} px"


def _not_an_image(name: str) -> Markup:
    return element("p", f"{name}: this file is not an image that can be shown", class_="bad")


def _thumbnail(name: str, picture: Picture, remark: object = None) -> Markup:
    small = reduce_image(picture)
    if small is None:
        return _not_an_image(name)
    url, alt = data_url(small), f"{name}, {_size(picture)}"
    image = element("img", src=url, alt=alt, width=small.width, height=small.height)
    return element("figure", image, _caption(name, picture, *([remark] if remark else [])), class_="again")


def _small_copy(picture: Picture) -> Markup | None:
    small = reduce_image(picture)
    if small is None:
        return None
    size = {"width": picture.width, "height": picture.height}
    return element("image", href=data_url(small), **size, preserveAspectRatio="none")


def _id_of_copy(name: str) -> str:
    return f"original-{name}"


def reduce_image(picture: Picture) -> Picture | None:
    """At most 360 pixels wide and high; None for a file that is not an image."""
    try:
        return fit(picture, _THUMBNAIL).picture
    except ImageError:
        return None


def data_url(picture: Picture) -> str:
    """The file of the image as the address of an `img`."""
    return f"data:{picture.mime};base64,{b64encode(picture.data).decode()}"


def _fit_page(pictures: dict[str, Picture], page_bytes: int) -> dict[str, PageImage]:
    for level in _LEVELS[:-1]:
        images = _fit_all(pictures, level, page_bytes)
        if images is not None:
            return images
    return {key: image for key, picture in pictures.items() if (image := _fit(picture, _LEVELS[-1]))}


def _fit_all(pictures: dict[str, Picture], level: FitLimits, page_bytes: int) -> dict[str, PageImage] | None:
    """None as soon as they exceed the limit."""
    images: dict[str, PageImage] = {}
    for key, picture in pictures.items():
        image = _fit(picture, level)
        if image:
            images[key] = image
            page_bytes -= len(image.file.data)
        if page_bytes < 0:
            return None
    return images


def _fit(picture: Picture, level: FitLimits) -> PageImage | None:
    if not picture.data.startswith(_SIGNATURES[picture.mime]):
        return None
    try:
        return PageImage(picture, fit(picture, level).picture)
    except ImageError:
        return None
