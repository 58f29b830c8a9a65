"""What kinds of tools the code of a cell uses, read from its syntax tree; the code is never run.

Covered: the idioms of `tool_rules`, several kinds in one cell, code that does not parse.
Not covered: what a call does when its name is computed, or when it is inside a function that the model defined in an
earlier cell. The PyVision paper clustered embeddings of code instead (arXiv 2507.07998, Section 4), with one kind per
block, so compare shares with its counts, not single cells.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from pyvision.bench.analysis.tool_rules import (
    CLASS_OF,
    FILTERS,
    ON_AN_IMAGE,
    PIXEL_KEEPING,
    PREPARES,
    SURE,
    TURNS,
    WEAK,
    Kind,
    ToolClass,
)
from pyvision.text.python_source import parse_source

_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_POINTS_ONLY = re.compile(r"[rgbcmykw]?[.,ov^<>12348sp*hH+xXDd|_][rgbcmykw]?")
_KINDS: tuple[Kind, ...] = get_args(Kind)
SOURCE = "PyVision, arXiv 2507.07998, Figure 9"


@dataclass(frozen=True, slots=True)
class Tools:
    """The kinds of tools in one cell, each once, in the order of the table; `why` explains a mere `other`."""

    kinds: tuple[Kind, ...]
    why: str = ""

    @property
    def classes(self) -> tuple[ToolClass, ...]:
        return tuple(dict.fromkeys(CLASS_OF[kind] for kind in self.kinds))


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """How many cells hold each kind; a cell of two kinds counts for both, so kinds add up to more than cells."""

    cells: int
    kinds: Mapping[Kind, int]
    broken: int = 0  # cells that are not valid Python

    @property
    def classes(self) -> dict[ToolClass, int]:
        """Class -> how often one of its kinds was used."""
        found: Counter[ToolClass] = Counter()
        for kind, number in self.kinds.items():
            found[CLASS_OF[kind]] += number
        return {name: found[name] for name in get_args(ToolClass)}

    def share(self, name: ToolClass) -> float:
        """Share of all uses, from 0 to 1; 0 without any."""
        classes = self.classes
        return classes[name] / max(1, sum(classes.values()))


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """Blocks of code by class, as in the paper's figure."""

    basic: int
    advanced: int
    prompting: int
    numerical: int
    other: int

    def share(self, name: ToolClass) -> float:
        """Share of all blocks, from 0 to 1."""
        counts: Mapping[ToolClass, int] = {
            "basic": self.basic,
            "advanced": self.advanced,
            "prompting": self.prompting,
            "numerical": self.numerical,
            "other": self.other,
        }
        return counts[name] / sum(counts.values())


PAPER_COUNTS: Mapping[str, PaperCounts] = {
    "mathvision": PaperCounts(250, 43, 122, 291, 256),
    "mathvista": PaperCounts(565, 336, 231, 964, 695),
    "mmmu": PaperCounts(403, 41, 52, 1207, 733),
    "visualpuzzles": PaperCounts(1850, 346, 362, 853, 782),
    "vlmsareblind": PaperCounts(499, 2583, 204, 1918, 1150),
    "vstar": PaperCounts(801, 6, 18, 53, 82),
}
"""Benchmark, in lower case without punctuation -> counts."""

_OUR_NAMES = {"v*": "vstar", "blind": "vlmsareblind"}  # names in the table of datasets


def count_tools(cells: Iterable[str]) -> ToolCounts:
    """The kinds of all cells together."""
    found = [classify(code) for code in cells]
    kinds = Counter(kind for tools in found for kind in tools.kinds)
    broken = sum(bool(tools.why) for tools in found)
    return ToolCounts(len(found), {kind: kinds[kind] for kind in _KINDS}, broken)


def classify(code: str) -> Tools:
    """The kinds of one cell. Never raises: invalid Python is `other`, with the reason."""
    try:
        found = _Cell(parse_source(_MAGIC.sub("pass", code))).kinds()
    except SyntaxError as error:
        return Tools(("other",), f"not valid Python: {error}")
    except RecursionError:
        return Tools(("other",), "nested too deeply to read")
    return Tools(tuple(kind for kind in _KINDS if kind in found) or ("other",))


def paper_counts(dataset: str) -> PaperCounts | None:
    """The counts of the benchmark that a dataset's name begins with (`mmmu-val`, `V*`), or None."""
    name = dataset.lower()
    for ours, theirs in _OUR_NAMES.items():
        name = theirs if name.startswith(ours) else name
    letters = "".join(letter for letter in name if letter.isalnum())
    return next((counts for known, counts in PAPER_COUNTS.items() if letters.startswith(known)), None)


class _Cell:
    """One syntax tree, with what its names refer to."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = tuple(ast.walk(tree))
        self._own = {node.name for node in self._nodes if isinstance(node, ast.FunctionDef)}
        self._calls = tuple(node for node in self._nodes if isinstance(node, ast.Call))
        self._names = frozenset(_name(call.func) for call in self._calls) - self._own
        self._pixels: set[str] = set()
        for node in self._nodes * 2:  # the walk visits the body of a loop after what follows the loop
            self._learn(node)

    def kinds(self) -> set[Kind]:
        """Sure signs first; weaker ones unless they only prepare those; arithmetic if there is nothing else."""
        sure = {kind for node in self._nodes for kind in self._sure(node)}
        found = set(sure)
        for kind in {kind for node in self._nodes for kind in self._weak(node)}:
            if not PREPARES[kind] & sure:
                found.add(kind)
        return found or ({"numeric"} if self._calculates() else set())

    def _sure(self, node: ast.AST) -> Iterator[Kind]:
        match node:
            case ast.Call():
                yield from self._sure_call(node)
            case ast.Attribute(value=ast.Name("ImageFilter"), attr=name) if (
                "lur" not in name and "BLUR" not in name
            ):
                yield FILTERS.get(name, "enhance")
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)) if self._is_pixels(value):
                if _is_range_of_two(parts):
                    yield "crop"
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(float())) if self._is_pixels(left):
                yield "enhance"

    def _sure_call(self, call: ast.Call) -> Iterator[Kind]:
        name = _name(call.func)
        if name in self._own:
            return
        if name in SURE and not _is_builtin_sum(call):
            yield SURE[name]
        elif name in ON_AN_IMAGE and self._is_on_an_image():
            yield ON_AN_IMAGE[name]
        elif name == "plot":
            yield from self._plot(call)
        elif name == "transpose" and any(_name(argument) in TURNS for argument in call.args):
            yield "rotate"
        elif name == "unique" and any(keyword.arg == "return_counts" for keyword in call.keywords):
            yield "histogram"
        elif name == "clip" and any(self._is_scaled(argument) for argument in call.args):
            yield "enhance"

    def _plot(self, call: ast.Call) -> Iterator[Kind]:
        """A plot over an image or with equal axes draws on or sketches it; any other is a chart of numbers."""
        if not (self._is_on_an_image() or ({"set_aspect", "axis"} & self._names and self._has_equal_axes())):
            return
        formats = [part.value for part in call.args if isinstance(part, ast.Constant)]
        only_points = any(isinstance(part, str) and _POINTS_ONLY.fullmatch(part) for part in formats)
        yield "marks" if only_points else "lines"

    def _weak(self, node: ast.AST) -> Iterator[Kind]:
        match node:
            case ast.Call(func=func) if _name(func) in WEAK:
                yield WEAK[_name(func)]
            case ast.Attribute(value=ast.Name("ImageFilter"), attr=name) if "lur" in name or "BLUR" in name:
                yield "enhance"
            case ast.Compare(left=left, comparators=right) if any(
                self._is_pixels(side) for side in (left, *right)
            ):
                yield "segmentation"

    def _calculates(self) -> bool:
        """Whether the cell computes something and prints it, without displaying an image."""
        if self._is_on_an_image() or "print" not in self._names:
            return False
        works = any(isinstance(node, ast.BinOp | ast.AugAssign | ast.GeneratorExp) for node in self._nodes)
        return works or bool(self._names & {"sum", "max", "min", "sorted", "count"})

    def _is_on_an_image(self) -> bool:
        return bool(self._names & {"imshow", "Draw"})

    def _has_equal_axes(self) -> bool:
        return any(
            isinstance(node, ast.Constant) and node.value in ("equal", "scaled") for node in self._nodes
        )

    def _learn(self, node: ast.AST) -> None:
        """Remember the names that are assigned pixels."""
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value) if self._is_pixels(value):
                self._pixels.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for one, value in zip(names, values, strict=False):
                    if isinstance(one, ast.Name) and self._is_pixels(value):
                        self._pixels.add(one.id)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=func) as value):
                if _name(func) == "split" and self._is_pixels(value):
                    self._pixels |= {one.id for one in names if isinstance(one, ast.Name)}

    def _is_pixels(self, node: ast.expr) -> bool:
        """Whether an expression is an image or an array of one, as far as this cell shows."""
        match node:
            case ast.Name(name):
                return name.startswith("image_clue_") or name in self._pixels
            case ast.BinOp(left=left, right=right):
                return self._is_pixels(left) or self._is_pixels(right)
            case ast.Subscript(value=value, slice=part):
                return self._is_pixels(value) and _holds_a_range(part)
            case ast.Call(func=func, args=arguments) if _name(func) in PIXEL_KEEPING:
                given = [func.value] if isinstance(func, ast.Attribute) else []
                return any(self._is_pixels(each) for each in (*given, *arguments[:1]))
            case _:
                return False

    def _is_scaled(self, node: ast.expr) -> bool:
        return isinstance(node, ast.BinOp) and self._is_pixels(node)


def _name(node: ast.expr) -> str:
    """The last part of a dotted name; empty for anything else."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_builtin_sum(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "sum"


def _is_range_of_two(parts: list[ast.expr]) -> bool:
    """Rows and columns, with a bound on either: `[a:b, c:d]`, not `[:, 0]`, `[..., 2]` or `[::2, ::2]`."""
    ranges = [part for part in parts[:2] if isinstance(part, ast.Slice)]
    return len(ranges) == 2 and any(part.lower or part.upper for part in ranges)


def _holds_a_range(part: ast.expr) -> bool:
    parts = part.elts if isinstance(part, ast.Tuple) else [part]
    return any(
        isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and one.value is ...) for one in parts
    )
