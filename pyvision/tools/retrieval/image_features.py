"""Compute the features of an image: two hashes to find copies, and a vector to find similar images.

They are computed from the image scaled down to 128 pixels on its longer side.

* dhash, 64 bits: the grey image averaged into 9 columns and 8 rows; one bit for each pair of neighbours in a row,
  set if the right one is lighter by more than 2 of 255 levels (the difference hash of N. Krawetz,
  hackerfactor.com, 2013, with a margin, so that uniform areas stay 0 after JPEG compression).
* phash, 64 bits: the grey image averaged into 32x32, its discrete cosine transform, the 8x8 lowest frequencies; a
  bit is set if the coefficient exceeds their median by more than 16 (the DCT hash described there in 2011, with
  a margin for the same reason). The bit of the constant term is always 0.
* descriptor, a unit vector of 295 non-negative numbers: three weighted parts, each of square roots of shares. Colours:
  a histogram of 4x4x4 cells of RGB, each pixel shared among its neighbours. Layout: the mean colour of 5x5 fields and
  its complement. Gradients: in 3x3 fields, 8 unsigned orientations weighted by magnitude, and how
  uniform the field is. A white border is removed first, so that a drawing resembles its crop. The dot product of two
  descriptors is 0 to 1.

A network can replace the descriptor: an index holds the vectors of one embedder, chosen with its first image
(`index add --embed hf:NAME`) and used for queries too. Copies are found by the hashes in either case.
Not covered: rotated, mirrored and strongly cropped copies; the meaning of an image: two photos of one object from two
sides are no more similar than others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.errors import ConfigError, MissingExtra
from pyvision.images.pixels import file_hash, open_image, pixels
from pyvision.tools.perception.service import SharedModel, share_model
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import bool_, float32, float64, uint8
    from numpy.typing import NDArray

Embed: TypeAlias = "Callable[[Picture], NDArray[float32]]"  # returns a unit vector
OWN = ""  # stands for the descriptor above in place of a network
DESCRIPTOR_LENGTH = 4**3 + 5 * 5 * 6 + 3 * 3 * 9
SIDE_PX = 128
_RISE = 2.0  # levels of 255
_COEFFICIENT = 16.0  # of an orthonormal transform of levels, whose largest is 32 * 255
_WHITE = 235  # of 255 levels in each channel, at least
_UNIFORMITY = 4.0  # levels from one pixel to the next: a field with this mean magnitude is half uniform
_WEIGHTS = (0.4, 0.3, 0.3)  # colours, layout, gradients


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """What the index stores of an image: two hashes of 8 bytes each and a vector of float16 numbers."""

    sha256: str
    width: int
    height: int
    dhash: bytes
    phash: bytes
    descriptor: bytes


def features_of(picture: Picture, embed: Embed | None = None) -> ImageFeatures:
    """The features of an image; the vector is by `embed`, otherwise the descriptor. Raises ImageError."""
    from numpy import array, float16

    small = pixels(picture, SIDE_PX)
    grey = small @ array((0.299, 0.587, 0.114))
    return ImageFeatures(
        file_hash(picture),
        picture.width,
        picture.height,
        _pack(_dhash(grey)),
        _pack(_phash(grey)),
        (embed(picture) if embed else descriptor_of(small)).astype(float16).tobytes(),
    )


def descriptor_of(small: NDArray[uint8]) -> NDArray[float32]:
    """The descriptor of rows of RGB pixels: `DESCRIPTOR_LENGTH` numbers."""
    from numpy import concatenate, float32, sqrt
    from numpy.linalg import norm

    inner = _without_border(small)
    parts = (_colours(inner), _layout(inner), _gradients(inner))
    whole = concatenate(
        [sqrt(weight * part / part.sum()) for weight, part in zip(_WEIGHTS, parts, strict=True)]
    )
    found: NDArray[float32] = (whole / norm(whole)).astype(float32)
    return found


def _dhash(grey: NDArray[float64]) -> NDArray[bool_]:
    fields = _average(grey, 8, 9)
    bits: NDArray[bool_] = fields[:, 1:] - fields[:, :-1] > _RISE
    return bits


def _phash(grey: NDArray[float64]) -> NDArray[bool_]:
    from numpy import median

    waves = _cosines()
    low = waves @ _average(grey, 32, 32) @ waves.T
    bits: NDArray[bool_] = low > median(low.ravel()[1:]) + _COEFFICIENT
    bits[0, 0] = False
    return bits


@cache
def _cosines() -> NDArray[float64]:
    """The 8 lowest rows of the orthonormal cosine transform of 32 values (DCT-II)."""
    from numpy import arange, cos, pi, sqrt

    rows: NDArray[float64] = cos(pi / 32 * (arange(32) + 0.5) * arange(8)[:, None]) * sqrt(2 / 32)
    rows[0] /= sqrt(2)
    return rows


def _pack(bits: NDArray[bool_]) -> bytes:
    from numpy import packbits

    return packbits(bits.ravel()).tobytes()


def _average(values: NDArray[float64], rows: int, columns: int) -> NDArray[float64]:
    """The means of rows x columns fields of equal size; a pixel on an edge is shared between both."""
    from numpy import tensordot

    across = tensordot(_shares(values.shape[0], rows), values, axes=(1, 0))
    found: NDArray[float64] = tensordot(_shares(values.shape[1], columns), across, axes=(1, 1)).swapaxes(0, 1)
    return found


@cache
def _shares(size: int, fields: int) -> NDArray[float64]:
    """fields x size: the weight of each of `size` pixels in the mean of each field."""
    from numpy import arange, clip, minimum

    edges = arange(fields + 1) * size / fields
    pixel = arange(size)
    inside = minimum(pixel + 1, edges[1:, None]) - clip(pixel, edges[:-1, None], None)
    shares: NDArray[float64] = clip(inside, 0, None) * fields / size
    return shares


def _without_border(small: NDArray[uint8]) -> NDArray[uint8]:
    """The image without white rows and columns at its edges; unchanged if hardly anything would remain.

    Borders of other colours stay: they may be the outer stripes of a flag.
    """
    from numpy import flatnonzero

    is_ink = small.min(axis=2) < _WHITE
    rows, columns = flatnonzero(is_ink.any(axis=1)), flatnonzero(is_ink.any(axis=0))
    if len(rows) < 4 or len(columns) < 4:
        return small
    return small[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _colours(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import einsum

    red, green, blue = (_cells()[small[..., channel].ravel()] for channel in range(3))
    pairs = einsum("pr,pg->rgp", red, green).reshape(16, -1)
    found: NDArray[float64] = (pairs @ blue).ravel()
    return found


@cache
def _cells() -> NDArray[float64]:
    """256 x 4: the share of a level in the two cells next to it; the centre of cell k is at k * 85."""
    from numpy import abs as distance
    from numpy import arange, clip

    shares: NDArray[float64] = clip(1 - distance(arange(256)[:, None] / 85 - arange(4)), 0, None)
    return shares


def _layout(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import concatenate

    fields = _average(small / 255, 5, 5).clip(0, 1)
    found: NDArray[float64] = concatenate([fields.ravel(), 1 - fields.ravel()])
    return found


def _gradients(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import arctan2, array, concatenate, full, hypot, indices, pad, pi, zeros

    grey = pad(small @ array((0.299, 0.587, 0.114)), 1, mode="edge")
    right, down = grey[1:-1, 2:] - grey[1:-1, :-2], grey[2:, 1:-1] - grey[:-2, 1:-1]
    angle, magnitude = arctan2(down, right) % pi * (8 / pi), hypot(right, down) / 2
    low = angle.astype(int) % 8
    share = angle % 1
    shares, rows, columns = zeros((*low.shape, 8)), *indices(low.shape, sparse=True)
    shares[rows, columns, low] = magnitude * (1 - share)
    shares[rows, columns, (low + 1) % 8] = magnitude * share
    fields = _average(shares, 3, 3)
    uniform = full((3, 3, 1), _UNIFORMITY)
    found = concatenate([fields, uniform], axis=2)
    shares_of_fields: NDArray[float64] = found / found.sum(axis=2, keepdims=True)
    return shares_of_fields.ravel()


def load_embedder(name: str) -> Embed | None:
    """The embedder of a name, KIND:WHERE; None for OWN, the descriptor. The network loads with its first image.

    Raises ConfigError for an unknown name.
    """
    if name == OWN:
        return None
    kind, _, where = name.partition(":")
    if kind not in EMBEDDERS or not where:
        known = ", ".join(f"{each}:NAME" for each in EMBEDDERS)
        raise ConfigError(
            f"--embed {name}: unknown embedder; give {known}, for example hf:openai/clip-vit-base-patch32"
        )
    return EMBEDDERS[kind](where)


def _network(where: str) -> Embed:
    network = share_model(("embed", where), partial(_load, where))
    return partial(_embed, network)


def _load(where: str) -> tuple[Any, Any]:
    """The network and its image processor. Raises MissingExtra, and ConfigError for an unsuitable network."""
    for package in ("torch", "transformers"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(package, "vision") from error
    transformers = import_module("transformers")
    try:
        model = transformers.AutoModel.from_pretrained(where).eval()
        model.get_image_features  # noqa: B018 - raises AttributeError if the network embeds no images
        return model, transformers.AutoImageProcessor.from_pretrained(where)
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, AttributeError) as error:
        why = " ".join(str(error).split())[:300] or type(error).__name__
        raise ConfigError(
            f"--embed hf:{where}: cannot be loaded as a network that embeds images: {why}"
        ) from error


def _embed(network: SharedModel, picture: Picture) -> NDArray[float32]:
    from numpy import float32
    from numpy.linalg import norm

    torch: Any = import_module("torch")
    with network.acquire() as (model, prepare), torch.inference_mode():
        try:
            output = model.get_image_features(**prepare(images=open_image(picture), return_tensors="pt"))
        except (RuntimeError, ValueError, TypeError) as error:  # from torch; out of memory too
            raise ConfigError(f"the network failed: {' '.join(str(error).split())[:300]}") from error
    vector = getattr(output, "pooler_output", output)[0].float().cpu().numpy()
    found: NDArray[float32] = (vector / max(float(norm(vector)), 1e-12)).astype(float32)
    return found


EMBEDDERS: Mapping[str, Callable[[str], Embed]] = {"hf": _network}
