"""How well texts fit a picture, and how far away its parts are, by rules that need no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyvision.errors import ToolError
from pyvision.offline.perception.rules import Scene, scene_of
from pyvision.offline.perception.words import Wanted, parse_wanted
from pyvision.tools.perception.service import DEPTH_CELLS
from pyvision.types import Picture

_FARTHEST = 10.0  # at the top of the picture, where the nearest at its bottom is 1


def fits(picture: Picture, texts: Sequence[str]) -> tuple[float, ...]:
    """For each text its share of what stands out of the background: of the right colour, times of the right shape.

    0 for a text that names neither. Raises ToolError when no text does.
    """
    wanted = [parse_wanted(text) for text in texts]
    if not any(each.colour or each.shape or each.says_anything for each in wanted):
        raise ToolError(
            "match: the embedded rules know colours and simple shapes, and none of these texts names one; "
            "choose another provider: --tool match=model"
        )
    scene = scene_of(picture)
    return tuple(_fit(scene, each) for each in wanted)


def _fit(scene: Scene, wanted: Wanted) -> float:
    if not (wanted.colour or wanted.shape or wanted.says_anything):
        return 0.0
    whole = sum(region.area for region in scene.regions)
    if not whole:  # an even picture: it has a colour and no shape
        return 0.0 if wanted.shape or not wanted.colour else scene.shares.get(wanted.colour, 0.0)
    of_form = Wanted(shape=wanted.shape, is_ring=wanted.is_ring).among(scene.regions)
    of_colour = Wanted(colour=wanted.colour).among(scene.regions)
    return sum(each.area for each in of_form) / whole * sum(each.area for each in of_colour) / whole


def stand_in_depth(picture: Picture) -> Any:
    """A map of distances without unit, rows from the top. No measurement: what is lower and larger counts as nearer.

    The ground recedes evenly from 1 at the bottom to 10 at the top of the picture. A thing stands where its lower
    edge does, all of it, and comes nearer by up to a half with its share of the picture.
    """
    import numpy

    scene = scene_of(picture)
    longest = max(picture.width, picture.height)
    size = [max(1, round(DEPTH_CELLS * side / longest)) for side in (picture.height, picture.width)]
    ground = _FARTHEST - (_FARTHEST - 1) * (numpy.arange(size[0]) + 0.5) / size[0]
    depth = numpy.repeat(ground[:, None], size[1], axis=1)
    y, x = size[0] / picture.height, size[1] / picture.width
    for region in sorted(scene.regions, key=lambda region: region.bottom) if scene.is_drawing else ():
        foot = _FARTHEST - (_FARTHEST - 1) * region.bottom / picture.height
        nearer = 1 - region.area / (picture.width * picture.height) / 2
        rows = slice(int(region.top * y), max(int(region.top * y) + 1, round(region.bottom * y)))
        columns = slice(int(region.left * x), max(int(region.left * x) + 1, round(region.right * x)))
        depth[rows, columns] = foot * nearer
    return depth
