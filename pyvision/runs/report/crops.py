"""Which part of an image a figure shows: found by comparing pixels, or read from the code of the cell.

By pixels, an exact crop is found, also one that was enlarged by a whole factor. Not covered: crops that were resampled,
drawn on or shown inside axes; the page says that their place was not found.

Most figures are drawn by matplotlib and hold no pixel of the original. For these only the boxes in the code are left:
`image_clue_0.crop((l, t, r, b))` with literal numbers, or with a tuple under a name that the cell assigns once. The
figure that the cell displayed may be another crop.
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

_MAX_PIXELS = 24_000_000  # a larger image is not searched
_FACTORS = (1, 2, 3, 4, 5, 6, 8, 10)
_PROBES = 24  # pixels to compare before the whole figure
_MAX_PLACES = 400_000  # where one probe may lie; more means a plain area, which proves nothing
_MAX_CHECKS = 200
_MAX_BOXES = 12  # drawn for one cell


@dataclass(frozen=True, slots=True)
class Crop:
    """A box in an image of the question, in its pixels from the top left; the figure is `factor` times as large."""

    name: str
    left: int
    top: int
    width: int
    height: int
    factor: int = 1

    def __str__(self) -> str:
        right, bottom = self.left + self.width, self.top + self.height
        larger = f", enlarged {self.factor} times" if self.factor > 1 else ""
        return f"{self.name} from ({self.left}, {self.top}) to ({right}, {bottom}){larger}"


class CropFinder:
    """Looks for figures in the images of a question, for at most `seconds` in total."""

    def __init__(self, pictures: Mapping[str, Picture], seconds: float = 10.0) -> None:
        self._pictures = pictures
        self._seconds = seconds
        self._colours: dict[str, Colours] = {}

    def find(self, figure: Picture) -> Crop | None:
        """The place of the figure. None if it is a whole image, no crop, not unique, or if time is up."""
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
                found = _find_place(_shrink(small, factor), large)
                if found:
                    height, width = small.shape
                    return Crop(name, *found, width // factor, height // factor, factor)
        return None

    def _colours_of(self, name: str, picture: Picture) -> Colours | None:
        if name not in self._colours:
            colours = _colours(picture)
            if colours is None:
                return None
            self._colours[name] = colours
        return self._colours[name]


def collect_boxes(code: str, pictures: Mapping[str, Picture]) -> tuple[Crop, ...]:
    """The boxes that the code crops, in order and without repeats, clipped to their image."""
    tree = _parse(code) if pictures else None
    if tree is None:
        return ()
    known = dict(_tuples(tree))
    found = (_box_of(node, known, pictures) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(crop for crop in found if crop))[:_MAX_BOXES]


def clip_box(name: str, picture: Picture, box: tuple[float, ...]) -> Crop | None:
    """The box in whole pixels, within the image; None if nothing is left of it."""
    left, top, right, bottom = box
    x, y = max(0, round(left)), max(0, round(top))
    width, height = min(picture.width, round(right)) - x, min(picture.height, round(bottom)) - y
    return Crop(name, x, y, width, height) if width > 0 and height > 0 else None


def pixels_of(picture: Picture) -> NDArray[np.uint8]:
    """Shape (height, width, 3): red, green, blue, 0 to 255; transparent pixels lie on white. Raises ImageError."""
    import numpy as np
    from matplotlib.image import imread

    plain = decode(picture.data, "of the run")
    read = np.asarray(imread(BytesIO(plain.data), format=plain.mime.removeprefix("image/")))
    whole = read if read.dtype == np.uint8 else np.rint(read * 255).astype(np.uint8)
    return np.stack([whole] * 3, axis=-1) if whole.ndim == 2 else np.ascontiguousarray(whole[..., :3])


def _colours(picture: Picture) -> Colours | None:
    import numpy as np

    if picture.width * picture.height > _MAX_PIXELS:
        return None
    try:
        red, green, blue = np.moveaxis(pixels_of(picture).astype(np.uint32), -1, 0)
    except ImageError:  # a damaged file, which the page reports where it stands
        return None
    return np.asarray(red << 16 | green << 8 | blue, dtype=np.uint32)


def _shrink(colours: Colours, factor: int) -> Colours | None:
    """The image before it was enlarged by a whole factor with sharp pixels; None if it was not."""
    import numpy as np

    if factor == 1:
        return colours
    if colours.shape[0] % factor or colours.shape[1] % factor:
        return None
    small = colours[::factor, ::factor]
    return small if np.array_equal(small.repeat(factor, 0).repeat(factor, 1), colours) else None


def _find_place(small: Colours | None, large: Colours | None) -> tuple[int, int] | None:
    """Left and top of the only place where the small image lies in the large one."""
    import numpy as np

    if small is None or large is None or small.shape == large.shape:
        return None
    margin = np.subtract(large.shape, small.shape)
    if margin.min() < 0 or small.size < 64:
        return None
    places = _candidates(small, large, margin)
    if places is None or len(places) > _MAX_CHECKS:
        return None
    height, width = small.shape
    found = [(x, y) for y, x in places if np.array_equal(large[y : y + height, x : x + width], small)]
    return (int(found[0][0]), int(found[0][1])) if len(found) == 1 else None


def _candidates(small: Colours, large: Colours, margin: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """(row, column) pairs where a handful of probes agree; None where the figure is too plain to tell."""
    import numpy as np

    values, first, counts = np.unique(small, return_index=True, return_counts=True)
    if len(values) < 2:
        return None
    rarest = np.argsort(counts, kind="stable")[:_PROBES]
    probes = [(values[at], *divmod(int(first[at]), small.shape[1])) for at in rarest]
    value, row, column = min(probes, key=lambda probe: int(np.count_nonzero(large == probe[0])))
    places: NDArray[np.int64] = np.argwhere(large == value) - (row, column)
    places = places[np.all((places >= 0) & (places <= margin), axis=1)]
    if len(places) > _MAX_PLACES:
        return None
    for value, row, column in probes:
        places = places[large[places[:, 0] + row, places[:, 1] + column] == value]
    return places


def _parse(code: str) -> ast.Module | None:
    try:
        return parse_source(code)
    except SyntaxError:
        return None


def _tuples(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """What each name is assigned, for names that are assigned once."""
    assigned = [
        (target.id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    times = Counter(name for name, _ in assigned)
    return ((name, value) for name, value in assigned if times[name] == 1)


def _box_of(call: ast.Call, known: Mapping[str, ast.expr], pictures: Mapping[str, Picture]) -> Crop | None:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="crop"), args=[box]) if (
            name in pictures
        ):
            numbers = _numbers(known.get(box.id, box) if isinstance(box, ast.Name) else box)
            return clip_box(name, pictures[name], numbers) if len(numbers) == 4 else None
        case _:
            return None


def _numbers(box: ast.expr) -> tuple[float, ...]:
    """The numbers of a literal tuple or list; empty for anything else."""
    try:
        values = ast.literal_eval(box)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()
    if not isinstance(values, tuple | list) or not all(isinstance(each, int | float) for each in values):
        return ()
    return tuple(values) if all(abs(each) < 1e9 for each in values) else ()
