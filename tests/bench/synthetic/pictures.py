"""Read generated samples back: their pictures decoded, as whoever answers them sees them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pyvision.bench.samples import Sample
from pyvision.bench.synthetic import generate

SEED = 29


def open_images(sample: Sample) -> list[Image.Image]:
    return [
        Image.open(io.BytesIO(image)).convert("RGB") for image in sample.images if isinstance(image, bytes)
    ]


def read(
    name: str, count: int, difficulty: float = 0.5
) -> Iterator[tuple[Sample, np.ndarray[Any, np.dtype[np.uint8]]]]:
    """Samples with the pixels of their first picture."""
    for sample in generate(name, count, SEED, difficulty):
        yield sample, np.asarray(open_images(sample)[0])


def grown(mask: np.ndarray[Any, np.dtype[np.bool_]], by: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The mask with every pixel spread to a square of 2 by + 1 pixels."""
    height, width = mask.shape
    padded = np.pad(mask, by)
    rows, found = np.zeros_like(padded[:height]), np.zeros_like(mask)
    for y in range(2 * by + 1):
        rows |= padded[y : y + height]
    for x in range(2 * by + 1):
        found |= rows[:, x : x + width]
    return found


def few(count: int, *, all_of: int) -> pytest.MarkDecorator:
    """Parametrizes with `count`: of the quick test, and of the slow one."""
    return pytest.mark.parametrize("count", [count, pytest.param(all_of, marks=pytest.mark.slow)])
