"""Where a figure was cut out of a picture: by exact pixels, also when it was enlarged by a whole factor.

Not covered: crops that were resampled, drawn on or shown inside axes. Those are not found, and the page says so.
"""

from __future__ import annotations

import ast
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from pyvision.errors import ImageError
from pyvision.images.read import decode
from pyvision.text.python_source import parse_source
from pyvision.types import Picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Colours = NDArray[np.uint32]  # (height, width), one number for each colour


_MOST_PIXELS = 24_000_000  # of a picture that is searched
_FACTORS = (1, 2, 3, 4, 5, 6, 8, 10)
_PROBES = 24  # pixels that are compared before the whole is
_MOST_PLACES = 400_000  # that one probe may lie at; more is a plain area, which is no evidence
_MOST_CHECKS = 200


@dataclass(frozen=True, slots=True)
class Crop:
    """A box in a picture of the question, in its pixels from the top left; shown `factor` times as large."""

    name: str
    left: int
    top: int
    width: int
    height: int
    factor: int = 1


class CropFinder:
    """Looks for figures in the pictures of a question, for at most `seconds` in all."""

    def __init__(self, pictures: Mapping[str, Picture], seconds: float = 10.0) -> None:
        self._pictures = pictures
        self._seconds = seconds
        self._colours: dict[str, Colours] = {}

    def find(self, figure: Picture) -> Crop | None:
        """The place of the figure, or None: it is the whole picture, not a cut, not unique, or time is up."""
        began = time.monotonic()
        try:
            return self._find(figure, began + self._seconds)
        finally:
            self._seconds -= time.monotonic() - began

    def _find(self, figure: Picture, deadline: float) -> Crop | None:
        small = _colours(figure)
        if small is None:
            return None
        for name, picture in self._pictures.items():
            large = self._colours_of(name, picture)
            for factor in _FACTORS if large is not None else ():
                if time.monotonic() > deadline:
                    return None
                found = _crop(_shrunk(small, factor), large)
                if found:
                    return Crop(
                        name, found[0], found[1], small.shape[1] // factor, small.shape[0] // factor, factor
                    )
        return None

    def _colours_of(self, name: str, picture: Picture) -> Colours | None:
        if name not in self._colours:
            colours = _colours(picture)
            if colours is None:
                return None
            self._colours[name] = colours
        return self._colours[name]


def _colours(picture: Picture) -> Colours | None:
    import numpy as np

    if picture.width * picture.height > _MOST_PIXELS:
        return None
    try:
        red, green, blue = np.moveaxis(pixels_of(picture).astype(np.uint32), -1, 0)
    except ImageError:  # the record may hold what is no picture; it is shown as such elsewhere
        return None
    return np.asarray(red << 16 | green << 8 | blue, dtype=np.uint32)


def _shrunk(colours: Colours, factor: int) -> Colours | None:
    """The picture before it was enlarged by a whole factor with sharp pixels, if it was."""
    import numpy as np

    if factor == 1:
        return colours
    if colours.shape[0] % factor or colours.shape[1] % factor:
        return None
    small = colours[::factor, ::factor]
    return small if np.array_equal(small.repeat(factor, 0).repeat(factor, 1), colours) else None


def _crop(small: Colours | None, large: Colours | None) -> tuple[int, int] | None:
    """Left and top of the one place where the small picture lies in the larger one."""
    import numpy as np

    if small is None or large is None or small.shape == large.shape:
        return None
    room = np.subtract(large.shape, small.shape)
    if room.min() < 0 or small.size < 64:
        return None
    places = _places(small, large, room)
    if places is None or len(places) > _MOST_CHECKS:
        return None
    height, width = small.shape
    found = [(x, y) for y, x in places if np.array_equal(large[y : y + height, x : x + width], small)]
    return (int(found[0][0]), int(found[0][1])) if len(found) == 1 else None


def _places(small: Colours, large: Colours, room: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """(rows, columns) at which a handful of probes agree; None where the figure is too plain to say."""
    import numpy as np

    values, first, counts = np.unique(small, return_index=True, return_counts=True)
    if len(values) < 2:
        return None
    rarest = np.argsort(counts, kind="stable")[:_PROBES]
    probes = [(values[at], *divmod(int(first[at]), small.shape[1])) for at in rarest]
    value, row, column = min(probes, key=lambda probe: int(np.count_nonzero(large == probe[0])))
    places: NDArray[np.int64] = np.argwhere(large == value) - (row, column)
    places = places[np.all((places >= 0) & (places <= room), axis=1)]
    if len(places) > _MOST_PLACES:
        return None
    for value, row, column in probes:
        places = places[large[places[:, 0] + row, places[:, 1] + column] == value]
    return places


# ---- Boxes that a cell cuts out of a picture of the question, as its code names them: `image_clue_0.crop((l, t, r, b))`.
# ----
# ---- Most figures are drawn anew by matplotlib and hold no pixel of the original, so this is what is left to go by. Covered:
# ---- numbers that stand in the call, or in a tuple under a name that the cell gives once. What was shown may be another cut.


_MOST = 12  # boxes of one cell that are drawn


def collect_boxes(code: str, pictures: Mapping[str, Picture]) -> tuple[Crop, ...]:
    """The boxes in order, each once, cut off at the borders of their picture."""
    tree = _parse(code) if pictures else None
    if tree is None:
        return ()
    known = dict(_tuples(tree))
    found = (_crop_in(node, known, pictures) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(crop for crop in found if crop))[:_MOST]


def _crop_in(call: ast.Call, known: Mapping[str, ast.expr], pictures: Mapping[str, Picture]) -> Crop | None:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="crop"), args=[box]) if (
            name in pictures
        ):
            numbers = _numbers(known.get(box.id, box) if isinstance(box, ast.Name) else box)
            return _within(name, pictures[name], numbers) if len(numbers) == 4 else None
        case _:
            return None


def _within(name: str, picture: Picture, box: tuple[float, ...]) -> Crop | None:
    left, top, right, bottom = box
    x, y = max(0, round(left)), max(0, round(top))
    width, height = min(picture.width, round(right)) - x, min(picture.height, round(bottom)) - y
    return Crop(name, x, y, width, height) if width > 0 and height > 0 else None


def _numbers(box: ast.expr) -> tuple[float, ...]:
    """The numbers of a literal tuple or list; empty for anything else."""
    try:
        values = ast.literal_eval(box)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()
    if not isinstance(values, tuple | list) or not all(isinstance(each, int | float) for each in values):
        return ()
    return tuple(values) if all(abs(each) < 1e9 for each in values) else ()


def _tuples(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    given = [
        (target.id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    times = Counter(name for name, _ in given)
    return ((name, value) for name, value in given if times[name] == 1)


def _parse(code: str) -> ast.Module | None:
    try:
        return parse_source(code)
    except SyntaxError:
        return None


# ---- The pixels of a picture as numbers, for comparing pictures.


def pixels_of(picture: Picture) -> NDArray[np.uint8]:
    """Shape (height, width, 3), red green blue, 0 to 255; what is transparent lies on white. Raises ImageError."""
    import numpy as np
    from matplotlib.image import imread

    plain = decode(picture.data, "of the run")
    read = np.asarray(imread(BytesIO(plain.data), format=plain.mime.removeprefix("image/")))
    whole = read if read.dtype == np.uint8 else np.rint(read * 255).astype(np.uint8)
    return np.stack([whole] * 3, axis=-1) if whole.ndim == 2 else np.ascontiguousarray(whole[..., :3])
