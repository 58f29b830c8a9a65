"""Read generated samples back: their pictures decoded, as whoever answers them sees them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
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
    padded = np.pad(mask, by)
    height, width = mask.shape
    shifts = [(y, x) for y in range(2 * by + 1) for x in range(2 * by + 1)]
    found = np.zeros_like(mask)
    for y, x in shifts:
        found |= padded[y : y + height, x : x + width]
    return found
