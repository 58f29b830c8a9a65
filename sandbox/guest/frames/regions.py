"""What a figure or a displayed image shows of known images: a box, and a matrix to their pixels, for each region."""

from __future__ import annotations

from typing import Any

from PIL import Image

from .affine import Box, Matrix, compose, invert, is_close, is_upright, map_box, scale_and_shift
from .registry import frame_of, resolve_frame, size_of

_DRAWN = "_frames_drawn"
_SOURCE = "_frames_source"
_MOST_REGIONS = 16


def after_set_data(_: None, artist: Any, data: Any) -> None:
    """Remember what an image on axes is made of."""
    frame = frame_of(data, search=True)
    setattr(artist, _SOURCE, (frame, size_of(data)) if frame else None)


def after_draw(_: None, artist: Any, renderer: Any) -> None:
    """Remember where an image on axes was drawn."""
    if getattr(artist, _SOURCE, None) is None or not hasattr(artist, "get_extent"):
        return
    transform = artist.get_transform()
    drawn = None
    if transform.is_affine and artist.get_visible():
        (a, b, c), (d, e, f), _ = transform.get_matrix().tolist()
        clip = artist.axes.bbox.extents
        height = float(renderer.height)
        upside_down: Matrix = (1, 0, 0, 0, -1, height)
        box = map_box(upside_down, tuple(map(float, clip)))  # type: ignore[arg-type]
        drawn = compose(upside_down, compose((a, b, c, d, e, f), _data_from_pixels(artist))), box
    setattr(artist, _DRAWN, drawn)


def _data_from_pixels(artist: Any) -> Matrix:
    """From the pixels of an image on axes to their coordinates of data."""
    left, right, bottom, top = map(float, artist.get_extent())
    width, height = getattr(artist, _SOURCE)[1]
    if artist.origin == "lower":
        bottom, top = top, bottom
    return scale_and_shift((right - left) / width, left, (bottom - top) / height, top)


def figure_regions(figure: Any) -> list[dict[str, Any]]:
    """Where the figure, as it was drawn last, shows known images: names, boxes, and matrices to their pixels."""
    found: list[dict[str, Any]] = []
    for axes in figure.axes:
        known = [
            image for image in axes.images if getattr(image, _SOURCE, None) and getattr(image, _DRAWN, None)
        ]
        regions = [region for image in known if (region := _region_of_artist(image))]
        if regions and all(_agrees(region, regions[0]) for region in regions):
            found.append(regions[0])
    return found[:_MOST_REGIONS]


def _region_of_artist(artist: Any) -> dict[str, Any] | None:
    frame, size = getattr(artist, _SOURCE)
    to_figure, box = getattr(artist, _DRAWN)
    resolved = resolve_frame(frame, size)
    if resolved is None:
        return None
    if is_upright(to_figure):
        left, top, right, bottom = map_box(to_figure, (0, 0, *size))
        box = max(left, box[0]), max(top, box[1]), min(right, box[2]), min(bottom, box[3])
    if box[0] >= box[2] or box[1] >= box[3]:
        return None
    return _region(resolved.root.name, box, compose(resolved.matrix, invert(to_figure)))


def image_regions(image: Image.Image, sent: tuple[int, int]) -> list[dict[str, Any]]:
    """The same for an image that is displayed by itself, as a file of this size."""
    frame = frame_of(image, search=True)
    resolved = resolve_frame(frame, image.size) if frame else None
    if resolved is None:
        return []
    scale = scale_and_shift(image.width / sent[0], 0, image.height / sent[1], 0)
    return [_region(resolved.root.name, (0, 0, *sent), compose(resolved.matrix, scale))]


def _region(name: str, box: Box, matrix: Matrix) -> dict[str, Any]:
    return {
        "name": name,
        "box": [float(edge) for edge in box],
        "matrix": [float(number) for number in matrix],
    }


def _agrees(first: dict[str, Any], second: dict[str, Any]) -> bool:
    same = first["name"] == second["name"]
    return same and is_close(tuple(first["matrix"]), tuple(second["matrix"]), (1000, 1000))
