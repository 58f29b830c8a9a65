from __future__ import annotations

import io

import pytest
from PIL import Image

from sandbox import Figure, Policy, Region
from sandbox.protocol.figures import FigureReader, read_regions
from sandbox.protocol.png import InvalidImage
from tests.sandbox.conftest import png
from tests.sandbox.protocol.png_files import png_file


def reader(policy: Policy | None = None, inflated_bytes: int = 10**6) -> FigureReader:
    return FigureReader(policy or Policy(), inflated_bytes)


def jpeg() -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", (40, 30)).save(sink, "JPEG")
    return sink.getvalue()


@pytest.mark.parametrize(("data", "mime"), [(png(), "image/png"), (jpeg(), "image/jpeg")])
def test_both_kinds_of_files_become_figures(data: bytes, mime: str) -> None:
    figure = reader().read(data)
    assert (figure.data, figure.mime, figure.width, figure.height) == (data, mime, 40, 30)


def test_a_jpeg_is_no_png() -> None:
    with pytest.raises(InvalidImage, match="not a PNG file"):
        reader().read_png(jpeg())


def test_bytes_are_counted_before_anything_is_read() -> None:
    with pytest.raises(InvalidImage, match=r"^of 1000 bytes: the limit is 999"):
        reader(Policy(figure_bytes=999)).read(b"\xff\xd8" + bytes(998))


@pytest.mark.parametrize("data", [png(), jpeg()])
def test_pixels_are_counted_before_they_are_read(data: bytes) -> None:
    with pytest.raises(InvalidImage, match=r"^of 40x30 pixels: the limit is 1000"):
        reader(Policy(figure_pixels=1000)).read(data[:-20] if data == png() else data)


def test_all_figures_of_a_cell_together_inflate_to_no_more_than_its_limit() -> None:
    limited = reader(inflated_bytes=2 * 30 * 121)
    assert [limited.read(png()) for _ in range(2)] == [Figure(png(), "image/png", 40, 30)] * 2
    with pytest.raises(InvalidImage, match="too many already"):
        limited.read(png())


def test_a_refused_file_counts_as_what_it_cost() -> None:
    limited = reader(inflated_bytes=30 * 41)
    with pytest.raises(InvalidImage, match="cannot be decompressed"):
        limited.read(png_file(40, 30, pixels=b"junk"))
    with pytest.raises(InvalidImage, match="too many already"):
        limited.read(png_file(40, 30))


FIGURE = Figure(png(), "image/png", 40, 30)
CLAIM = {"name": "image_clue_0", "box": [0, 0, 40, 30], "matrix": [1, 0, 5, 0, 1, 6]}


def regions(*claims: object) -> tuple[Region, ...]:
    return read_regions({"image/png": {"regions": list(claims)}}, FIGURE)


def test_a_region_that_the_guest_claims_is_read() -> None:
    (region,) = regions(CLAIM)
    assert (region.name, region.target) == ("image_clue_0", (5, 6, 45, 36))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "image clue\n<answer>"},
        {"name": "x" * 65},
        {"name": None},
        {"box": [0, 0, 40]},
        {"box": [0, 0, 400, 30]},
        {"box": [9, 0, 9, 30]},
        {"matrix": [1, 0, float("nan"), 0, 1, 0]},
        {"matrix": [1, 0, 1e300, 0, 1, 0]},
        {"matrix": [1, 0, True, 0, 1, 0]},
        {"matrix": ["1", 0, 0, 0, 1, 0]},
        {"matrix": {}},
    ],
)
def test_a_region_of_the_wrong_form_is_ignored(wrong: dict[str, object]) -> None:
    assert regions(CLAIM | wrong) == ()


@pytest.mark.parametrize("metadata", [None, [], {"image/png": 1}, {"image/png": {"regions": [CLAIM] * 17}}])
def test_metadata_of_the_wrong_form_holds_no_region(metadata: object) -> None:
    assert read_regions(metadata, FIGURE) == ()
