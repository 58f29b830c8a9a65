from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from sandbox.protocol.jpeg import rebuild
from sandbox.protocol.png import InvalidImage

# How fast a loaded machine makes examples says nothing about the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST_PIXELS = 100_000


def saved(mode: str = "RGB", size: tuple[int, int] = (83, 47), **options: object) -> bytes:
    sink = io.BytesIO()
    Image.effect_noise(size, 80).convert(mode).save(sink, "JPEG", **options)
    return sink.getvalue()


def pixels(data: bytes) -> object:
    return np.asarray(Image.open(io.BytesIO(data)))


def segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


PLAIN = saved()
FRAME = PLAIN.index(b"\xff\xc0")
SCAN = PLAIN.index(b"\xff\xda")
GOLDEN = {
    "plain": PLAIN,
    "grey": saved("L"),
    "progressive": saved(progressive=True),
    "progressive grey": saved("L", progressive=True),
    "optimized": saved(optimize=True, quality=95, subsampling=0),
    "subsampled": saved(subsampling="4:1:1"),
    "with metadata": saved(
        comment=b"c" * 500, dpi=(72, 72), exif=b"Exif\0\0" + b"e" * 90, icc_profile=b"p" * 90
    ),
    "with restarts": saved(restart_marker_blocks=3),
    "RGB without another space": saved(keep_rgb=True),
    "of one pixel": saved(size=(1, 1)),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_of_a_common_encoder_keeps_its_pixels(name: str) -> None:
    data, *_ = rebuild(GOLDEN[name], MOST_PIXELS)
    assert np.array_equal(pixels(data), pixels(GOLDEN[name]))  # type: ignore[arg-type]  # arrays


def test_the_size_is_that_of_its_frame() -> None:
    assert rebuild(PLAIN, MOST_PIXELS)[1:] == (83, 47)


def test_a_file_without_metadata_is_kept_as_it_is() -> None:
    assert rebuild(PLAIN, MOST_PIXELS)[0] is PLAIN


def test_metadata_is_left_out() -> None:
    metadata = segment(0xFE, b"comment") + segment(0xE1, b"Exif\0\0") + segment(0xE2, b"MPF\0")
    assert rebuild(PLAIN[:FRAME] + metadata + PLAIN[FRAME:], MOST_PIXELS)[0] == PLAIN


def framed(content: bytes) -> bytes:
    return PLAIN[:FRAME] + segment(0xC0, content) + PLAIN[FRAME + 19 :]


def size_of(width: int, height: int) -> bytes:
    return framed(
        PLAIN[FRAME + 4 : FRAME + 5] + struct.pack(">HH", height, width) + PLAIN[FRAME + 9 : FRAME + 19]
    )


REFUSED = {
    "no end": (PLAIN[:-2], "truncated"),
    "data after its end": (PLAIN + b"PK\3\4", "truncated"),
    "a second file after it": (PLAIN + PLAIN, "out of place or damaged|damaged JPEG file"),
    "two frames": (PLAIN[:FRAME] + PLAIN[FRAME : FRAME + 19] + PLAIN[FRAME:], "segment C0 that is out of"),
    "a frame after the pixels": (PLAIN[:-2] + PLAIN[FRAME : FRAME + 19] + PLAIN[-2:], "segment C0"),
    "no frame": (PLAIN[:FRAME] + PLAIN[FRAME + 19 :], "segment DA"),
    "no pixels": (PLAIN[:SCAN] + b"\xff\xd9", "without pixels"),
    "padding": (PLAIN[:2] + b"\xff" * 100 + PLAIN[2:], "damaged"),
    "a lossless frame": (PLAIN[:FRAME] + b"\xff\xc3" + PLAIN[FRAME + 2 :], "segment C3"),
    "arithmetic coding": (PLAIN[:FRAME] + segment(0xCC, b"\0\0") + PLAIN[FRAME:], "segment CC"),
    "a height that comes later": (size_of(83, 0), "without a pixel"),
    "too many pixels": (size_of(60_000, 60_000), "of 60000x60000 pixels: the limit is 100000"),
    "extreme sides": (size_of(2, 401), "one side is over 200 times"),
    "far more pixels than it has data for": (
        size_of(300, 300)[:FRAME] + size_of(300, 300)[FRAME : SCAN + 14] + b"\xff\xd9",
        "fewer JPEG pixels",
    ),
    "12 bits": (framed(b"\x0c" + PLAIN[FRAME + 5 : FRAME + 19]), "neither grey nor RGB"),
    "four colours": (saved("CMYK"), "neither grey nor RGB"),
    "a colour named twice": (
        framed(PLAIN[FRAME + 4 : FRAME + 13] + PLAIN[FRAME + 10 : FRAME + 13] * 2),
        "header",
    ),
    "tables that do not fill their segment": (PLAIN[:FRAME] + segment(0xDB, bytes(70)) + PLAIN[FRAME:], "DB"),
    "a segment past the end": (PLAIN[:FRAME] + b"\xff\xfe\xff\xff" + PLAIN[FRAME:], "damaged JPEG file"),
    "too many segments": (PLAIN[:FRAME] + segment(0xFE, b"") * 2000 + PLAIN[FRAME:], "too many segments"),
    "too many scans": (PLAIN[:SCAN] + PLAIN[SCAN:-2] * 20 + PLAIN[-2:], "segment DA"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_for(name: str) -> None:
    data, why = REFUSED[name]
    with pytest.raises(InvalidImage, match=why):
        rebuild(data, MOST_PIXELS)


@patient
@given(
    st.sampled_from(sorted(GOLDEN)),
    st.lists(st.tuples(st.integers(0, 900), st.binary(min_size=1, max_size=4)), min_size=1, max_size=3),
)
def test_whatever_passes_is_opened_with_the_size_that_it_claims(
    name: str, changes: list[tuple[int, bytes]]
) -> None:
    data = GOLDEN[name]
    for at, by in changes:
        data = data[:at] + by + data[at + len(by) :]
    try:
        data, width, height = rebuild(data, MOST_PIXELS)
    except InvalidImage:
        return
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size) == ("JPEG", (width, height))
