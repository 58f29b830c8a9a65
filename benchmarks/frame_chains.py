"""Chains of random operations on images: does the kernel know where the pixels come from, and is it ever wrong?

    python -m benchmarks.frame_chains --chains 10000

Each chain of up to eight operations of Pillow, NumPy and OpenCV runs on an image of noise that the module `frames`
follows, and on two images whose pixels hold their own x and y coordinates. Where these still form a plane around a
pixel, their values say where that pixel really comes from; what `frames` claims is compared with that. One operation
in twelve is one that cannot be followed, such as a warp, a shift around the edge or a mixture of two places.

claimed: chains whose result has a frame. wrong: those in which a claim is off by more than a pixel of the original.
lost: chains of operations that can be followed, without a frame. unchecked: claims for results without such a pixel.
It replaces functions of Pillow and NumPy, so it runs in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from PIL import Image, ImageChops, ImageEnhance, ImageFilter, ImageOps

from sandbox.guest import frames
from sandbox.guest.frames.affine import apply
from sandbox.guest.frames.registry import Frame, frame_of

_SIZE = (400, 300)
_LONGEST = 8
_LEAST_SIDE, _MOST_SIDE = 24, 700
_HOSTILE_SHARE = 1 / 12
_TRIED = 400  # pixels of a result

Operation: TypeAlias = Callable[[Any], Any]
Maker: TypeAlias = (
    "Callable[[Any, np.random.Generator], Operation]"  # of an operation for an image of this size
)
_Pixels: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one chain. error: the largest difference, in pixels; None if no pixel could be checked."""

    names: tuple[str, ...]
    is_claimed: bool
    is_hostile: bool
    error: float | None


def size_of(image: Any) -> tuple[int, int]:
    return image.size if isinstance(image, Image.Image) else image.shape[1::-1]


def pillow(operation: Callable[[Image.Image], Image.Image]) -> Operation:
    """The operation on an image or an array, as an image."""
    return lambda image: operation(image if isinstance(image, Image.Image) else Image.fromarray(image))


def array(operation: Callable[[_Pixels], _Pixels]) -> Operation:
    return lambda image: operation(np.array(image) if isinstance(image, Image.Image) else image)


def _box(size: tuple[int, int], random: np.random.Generator) -> tuple[int, int, int, int]:
    edges: list[tuple[int, int]] = []
    for side in size:
        length = int(random.integers(min(side, 2 * _LEAST_SIDE), side + 1))
        start = int(random.integers(0, side - length + 1))
        edges.append((start, start + length))
    return edges[0][0], edges[1][0], edges[0][1], edges[1][1]


def _new_size(size: tuple[int, int], random: np.random.Generator) -> tuple[int, int]:
    low = max(0.4, _LEAST_SIDE / min(size))
    high = max(low, min(3.0, _MOST_SIDE / max(size)))
    width, height = (max(_LEAST_SIDE, round(side * random.uniform(low, high))) for side in size)
    return width, height


def _crop(image: Any, random: np.random.Generator) -> Operation:
    left, top, right, bottom = _box(size_of(image), random)
    beyond = int(random.integers(0, 15)) if random.random() < 0.3 else 0
    return pillow(lambda each: each.crop((left - beyond, top, right + beyond, bottom)))


def _resize(image: Any, random: np.random.Generator) -> Operation:
    size = _new_size(size_of(image), random)
    box = _box(size_of(image), random) if random.random() < 0.3 else None
    return pillow(lambda each: each.resize(size, Image.Resampling.BILINEAR, box))


def _thumbnail(image: Any, random: np.random.Generator) -> Operation:
    width, height = _new_size(size_of(image), random)

    def thumbnail(each: Image.Image) -> Image.Image:
        each = each.copy()
        each.thumbnail((max(width, 60), max(height, 60)), Image.Resampling.BILINEAR)
        return each

    return pillow(thumbnail)


def _rotate(image: Any, random: np.random.Generator) -> Operation:
    angle = float(random.choice([90, 180, 270, *random.uniform(-180, 180, 3)]))
    options: dict[str, Any] = {"expand": bool(random.random() < 0.5)}
    if random.random() < 0.2:
        options = {"center": (30, 40), "translate": (5, -8)}
    return pillow(lambda each: each.rotate(angle, Image.Resampling.BILINEAR, **options))


def _transpose(_: Any, random: np.random.Generator) -> Operation:
    way = Image.Transpose(int(random.integers(0, 7)))
    return pillow(lambda each: each.transpose(way))


def _transform(image: Any, random: np.random.Generator) -> Operation:
    size = size_of(image)
    if random.random() < 0.5:
        box = tuple(float(edge) for edge in _box(size, random))
        return pillow(
            lambda each: each.transform(size, Image.Transform.EXTENT, box, Image.Resampling.BILINEAR)
        )
    a, b, d, e = (1 + random.uniform(-0.3, 0.3), *random.uniform(-0.3, 0.3, 2), 1 + random.uniform(-0.3, 0.3))
    data = (a, b, random.uniform(-20, 20), d, e, random.uniform(-20, 20))
    return pillow(lambda each: each.transform(size, Image.Transform.AFFINE, data, Image.Resampling.BILINEAR))


def _reduce(image: Any, random: np.random.Generator) -> Operation:
    most = max(1, min(3, min(size_of(image)) // _LEAST_SIDE))
    factor = int(random.integers(1, most + 1))
    return pillow(lambda each: each.reduce(factor))


def _image_ops(image: Any, random: np.random.Generator) -> Operation:
    size, border = _new_size(size_of(image), random), int(random.integers(1, 12))
    way = Image.Resampling.BILINEAR
    operations: Sequence[Callable[[Image.Image], Image.Image]] = (
        lambda each: ImageOps.expand(each, border),
        lambda each: ImageOps.pad(each, size, way),
        lambda each: ImageOps.fit(each, size, way),
        lambda each: ImageOps.contain(each, size, way),
        lambda each: ImageOps.cover(each, size, way),
        lambda each: ImageOps.crop(each, min(border, 4)),
        ImageOps.mirror,
        ImageOps.flip,
        lambda each: ImageOps.scale(each, size[0] / each.width, way),
    )
    return pillow(operations[int(random.integers(len(operations)))])


def _paste(_: Any, random: np.random.Generator) -> Operation:
    left, top = (int(at) for at in random.integers(0, 20, 2))

    def paste(each: Image.Image) -> Image.Image:
        canvas = Image.new(each.mode, (each.width + 25, each.height + 25))
        canvas.paste(each, (left, top))
        return canvas

    return pillow(paste)


def _enhance(_: Any, random: np.random.Generator) -> Operation:
    kind = int(random.integers(4))

    def enhance(each: Image.Image) -> Image.Image:
        if each.mode == "F":
            return each.copy()
        if kind == 0:
            return ImageEnhance.Contrast(each).enhance(1.5)
        if kind == 1:
            return each.filter(ImageFilter.SHARPEN)
        return ImageOps.autocontrast(each) if kind == 2 else each.convert("L").convert("RGB")

    return pillow(enhance)


def _slice(image: Any, random: np.random.Generator) -> Operation:
    left, top, right, bottom = _box(size_of(image), random)
    steps = [2 if min(size_of(image)) > 6 * _LEAST_SIDE and random.random() < 0.3 else 1 for _ in range(2)]
    y_sign, x_sign = (int(sign) for sign in random.choice([1, 1, -1], 2))

    def part(each: _Pixels) -> _Pixels:
        return each[top : bottom : steps[0], left : right : steps[1]][::y_sign, ::x_sign]

    return array(part)


def _copy_part(image: Any, random: np.random.Generator) -> Operation:
    left, top, right, bottom = _box(size_of(image), random)
    return array(lambda each: each[top:bottom, left:right].copy())


def _turn_array(_: Any, random: np.random.Generator) -> Operation:
    turns, kind = int(random.integers(4)), int(random.integers(4))
    operations: Sequence[Callable[[_Pixels], _Pixels]] = (
        lambda each: np.rot90(each, turns),
        np.fliplr,
        np.flipud,
        lambda each: each.swapaxes(0, 1),
    )
    return array(operations[kind])


def _pad(_: Any, random: np.random.Generator) -> Operation:
    sides = tuple((int(a), int(b)) for a, b in random.integers(0, 12, (2, 2)))
    return array(lambda each: np.pad(each, (*sides, *(((0, 0),) * (each.ndim - 2)))))


def _as_array(_: Any, random: np.random.Generator) -> Operation:
    if random.random() < 0.5:
        return array(np.array)
    return array(lambda each: np.ascontiguousarray(np.asarray(each)))


def _opencv(image: Any, random: np.random.Generator) -> Operation:
    import cv2  # type: ignore[import-not-found,unused-ignore]  # of the extra `guest`

    width, height = size_of(image)
    size, kind = _new_size((width, height), random), int(random.integers(9))
    angle, border = float(random.uniform(-180, 180)), int(random.integers(1, 12))
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, float(random.uniform(0.7, 1.4)))
    factor = size[0] / width
    inverse = cv2.WARP_INVERSE_MAP if random.random() < 0.3 else 0
    way = [cv2.INTER_LINEAR, cv2.INTER_AREA][int(random.integers(2))] if factor < 1 else cv2.INTER_LINEAR
    halves = min(width, height) > 3 * _LEAST_SIDE
    operations: Sequence[Callable[[Any], Any]] = (
        lambda each: cv2.resize(each, size, interpolation=cv2.INTER_LINEAR),
        lambda each: cv2.resize(each, None, fx=factor, fy=factor, interpolation=way),
        lambda each: cv2.flip(each, border % 3 - 1),
        lambda each: cv2.rotate(each, border % 3),
        lambda each: cv2.warpAffine(each, turn, size, flags=cv2.INTER_LINEAR | inverse),
        lambda each: cv2.copyMakeBorder(each, border, 3, 2, border, cv2.BORDER_CONSTANT),
        lambda each: cv2.pyrDown(each) if halves else cv2.pyrUp(each),
        lambda each: cv2.GaussianBlur(each, (5, 5), 0),
        lambda each: (
            cv2.resize(each, (width // 2, height // 2), interpolation=cv2.INTER_NEAREST)
            if halves and width % 2 == height % 2 == 0
            else cv2.transpose(each)
        ),
    )
    return array(lambda each: operations[kind](np.ascontiguousarray(each)))


def _hostile(image: Any, random: np.random.Generator) -> Operation:
    width, height = size_of(image)
    shift, kind = int(random.integers(5, 20)), int(random.integers(12))
    corners = (0, 0, 5, height - 9, width - 3, height, width, 7)
    tilted = (1, 0.1, 0, 0, 1, 0, 0.0005, 0)
    rows = random.permutation(height)
    way = Image.Resampling.BILINEAR

    def mixed(each: Image.Image) -> Image.Image:
        other = each.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return Image.blend(each, other, 0.5) if each.mode == "RGB" else other

    def half_covered(each: Image.Image) -> Image.Image:
        each = each.copy()
        each.paste(each.crop((0, 0, width // 2, height)), (width // 3, 0))
        return each

    def overwritten(each: _Pixels) -> _Pixels:
        each = np.array(each)
        each[:] = each[::-1, ::-1].copy()
        return each

    operations: Sequence[Operation] = (
        array(lambda each: np.roll(each, shift, axis=1)),
        pillow(lambda each: Image.fromarray(np.roll(np.array(each), shift, axis=0))),
        pillow(
            lambda each: ImageChops.offset(each, shift, 3) if each.mode == "RGB" else _rolled(each, shift)
        ),
        pillow(lambda each: each.transform(each.size, Image.Transform.PERSPECTIVE, tilted, way)),
        pillow(lambda each: each.transform(each.size, Image.Transform.QUAD, corners, way)),
        array(lambda each: each[rows]),
        array(lambda each: np.concatenate([each, each[:, ::-1]], axis=1)),
        pillow(mixed),
        pillow(half_covered),
        array(overwritten),
        array(lambda each: each[::-1].copy()[:, ::-1].copy()),
        array(lambda each: np.sort(each, axis=0)),
    )
    return operations[kind]


def _rolled(image: Image.Image, shift: int) -> Image.Image:
    return Image.fromarray(np.roll(np.array(image), (3, shift), axis=(0, 1)))


_FOLLOWED: tuple[Maker, ...] = (
    _crop, _resize, _thumbnail, _rotate, _transpose, _transform, _reduce, _image_ops, _image_ops, _paste, _enhance,
    _slice, _slice, _turn_array, _pad, _as_array,
)  # fmt: skip


def _makers() -> tuple[Maker, ...]:
    """The operations that can be followed, with those of OpenCV where it is installed; at last the others."""
    opencv = (_opencv, _opencv, _opencv) if importlib.util.find_spec("cv2") else ()
    return (*_FOLLOWED, *opencv, _hostile)


def run_chain(random: np.random.Generator) -> Checked:
    """One random chain, and the comparison of what is claimed with what is true."""
    width, height = _SIZE
    noise: Any = Image.fromarray(random.integers(0, 256, (height, width, 3), dtype=np.uint8))
    frames.define("image_clue_0", noise)
    frames.start_cell()
    y, x = np.mgrid[:height, :width].astype(np.float32) + 0.5
    images: list[Any] = [noise, *map(Image.fromarray, (x, y, np.ones_like(x)))]
    names, is_hostile, makers = [], False, _makers()
    for at in range(int(random.integers(1, _LONGEST + 1))):
        kind = random.random()
        if kind < _HOSTILE_SHARE:
            maker, is_hostile = makers[-1], True
        elif at == 0 and kind < 0.2:  # found by its pixels, as long as they are unchanged
            maker = _copy_part
        else:
            maker = makers[int(random.integers(len(makers) - 1))]
        operation = maker(images[0], random)
        images = [operation(image) for image in images]
        names.append(maker.__name__.strip("_"))
        if max(size_of(images[0])) > _MOST_SIDE or min(size_of(images[0])) < _LEAST_SIDE:
            break
    frame = frame_of(images[0], search=True)
    xs, ys, ones = map(np.asarray, images[1:])
    error = _error(frame, xs, ys, ones, random) if frame else None
    del noise
    return Checked(tuple(names), frame is not None, is_hostile, error)


def _error(
    frame: Frame, xs: _Pixels, ys: _Pixels, ones: _Pixels, random: np.random.Generator
) -> float | None:
    """The largest difference between claim and truth over some pixels whose origin is certain; None without any.

    ones: the result for an image of ones, which is less where something was padded.
    """
    height, width = xs.shape
    at = random.integers(2, height - 2, _TRIED), random.integers(2, width - 2, _TRIED)
    certain = (abs(ones[at] - 1) < 1e-4) & _is_plane(xs, at) & _is_plane(ys, at)
    if not certain.any():
        return None
    rows, columns = at[0][certain], at[1][certain]
    claims = [
        apply(frame.matrix, (column + 0.5, row + 0.5)) for row, column in zip(rows, columns, strict=True)
    ]
    truth = np.stack([xs[rows, columns], ys[rows, columns]], axis=1)
    return float(abs(np.array(claims) - truth).max())


def _is_plane(values: _Pixels, at: tuple[_Pixels, _Pixels]) -> _Pixels:
    """Whether the values around these pixels form a plane."""
    rows, columns = at
    here = values[rows, columns].astype(float)
    slope = np.zeros_like(here)
    bend = np.zeros_like(here)
    for y, x in (
        (0, 1),
        (1, 0),
        (1, 1),
        (1, -1),
        (0, 2),
        (2, 0),
        (2, 2),
        (2, -2),
        (2, 1),
        (1, 2),
        (2, -1),
        (1, -2),
    ):
        after = values[rows + y, columns + x].astype(float)
        before = values[rows - y, columns - x].astype(float)
        slope = np.maximum(slope, abs(after - before) / 2)
        bend = np.maximum(bend, abs(after + before - 2 * here))
        if max(abs(y), abs(x)) == 2 and y % 2 == x % 2 == 0:
            halfway = values[rows + y // 2, columns + x // 2].astype(float)
            bend = np.maximum(bend, abs(after + here - 2 * halfway))
    return bend <= 0.02 * slope + 0.02


def measure(chains: int, seed: int) -> dict[str, Any]:
    """The counts, and the names of the operations of the chains that were claimed wrongly."""
    frames.install()
    counts: Counter[str] = Counter(claimed=0, wrong=0, lost=0, unchecked=0)
    wrong: list[tuple[str, ...]] = []
    lost: list[tuple[str, ...]] = []
    worst = 0.0
    for number in range(chains):
        checked = run_chain(np.random.default_rng((seed, number)))
        counts["chains"] += 1
        counts["hostile"] += checked.is_hostile
        counts["claimed"] += checked.is_claimed
        if not checked.is_claimed and not checked.is_hostile:
            counts["lost"] += 1
            lost.append((str(number), *checked.names))
        counts["unchecked"] += checked.is_claimed and checked.error is None
        if checked.error is not None and checked.error > 1:
            counts["wrong"] += 1
            wrong.append((str(number), f"{checked.error:.2f}", *checked.names))
        elif checked.error is not None:
            worst = max(worst, checked.error)
    return {
        **counts,
        "largest_error_px": round(worst, 3),
        "wrong_chains": wrong[:20],
        "lost_chains": lost[:20],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chains", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    measured = measure(options.chains, options.seed)
    print(json.dumps(measured, indent=1))
    return 1 if measured["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
