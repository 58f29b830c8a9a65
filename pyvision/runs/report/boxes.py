"""Boxes that a cell cuts out of a picture of the question, as its code names them: `image_clue_0.crop((l, t, r, b))`.

Most figures are drawn anew by matplotlib and hold no pixel of the original, so this is what is left to go by. Covered:
numbers that stand in the call, or in a tuple under a name that the cell gives once. What was shown may be another cut.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from pyvision.runs.report.crops import Crop
from pyvision.text.parsing import parse_source
from pyvision.types import Picture

_MOST = 12  # boxes of one cell that are drawn


def collect_boxes(code: str, pictures: Mapping[str, Picture]) -> tuple[Crop, ...]:
    """The boxes in order, each once, cut off at the borders of their picture."""
    tree = _parse(code) if pictures else None
    if tree is None:
        return ()
    known = dict(_tuples(tree))
    found = (_crop(node, known, pictures) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(crop for crop in found if crop))[:_MOST]


def _crop(call: ast.Call, known: Mapping[str, ast.expr], pictures: Mapping[str, Picture]) -> Crop | None:
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
