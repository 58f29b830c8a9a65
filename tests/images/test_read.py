"""Pictures of every kind come in whole, or are refused in one line that says what to do."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.ExifTags import IFD, Base

from pyvision.errors import ImageError
from pyvision.images import read as image_reader
from pyvision.images.fit import fit
from pyvision.images.pixels import file_hash, suffix
from pyvision.images.read import decode, read
from pyvision.types import Picture
from tests.pictures import BLUE, GREEN, RED, WHITE, encoded, noise, opened, pixel, png

calm = settings(deadline=None, derandomize=True, max_examples=60)


def refusal(source: str | Path) -> str:
    with pytest.raises(ImageError) as caught:
        read(source)
    message = str(caught.value)
    assert message.isprintable()
    return message


@pytest.fixture
def unreadable(tmp_path: Path) -> Iterator[Path]:
    """A file that may not be read. Root may read everything, so meanwhile it is nobody."""
    path = tmp_path / "mine.png"
    path.write_bytes(b"x")
    path.chmod(0)
    user = os.geteuid()
    os.seteuid(user or 65534)
    yield path
    os.seteuid(user)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_plain_image_keeps_its_own_bytes(tmp_path: Path, kind: str, mode: str) -> None:
    data = encoded(Image.new(mode, (40, 30), "gray"), kind)
    path = tmp_path / "picture"
    path.write_bytes(data)
    assert read(path) == Picture(data, "image/png" if kind == "PNG" else "image/jpeg", 40, 30)


@pytest.mark.parametrize("kind", ["WEBP", "BMP", "TIFF", "PPM", "GIF"])
def test_other_formats_become_png(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    picture = decode(encoded(Image.new("RGB", (40, 30), RED), kind, **options), "picture")
    assert (picture.mime, picture.width, picture.height) == ("image/png", 40, 30)
    assert opened(picture).format == "PNG"
    assert pixel(picture, 39, 29) == RED


def test_a_cmyk_jpeg_becomes_rgb() -> None:
    picture = decode(encoded(Image.new("CMYK", (20, 20), (0, 255, 255, 0)), "JPEG"), "picture")
    red, green, blue = pixel(picture, 10, 10)
    assert (opened(picture).mode, picture.mime) == ("RGB", "image/jpeg")
    assert (red > 230, green < 60, blue < 60) == (True, True, True)


@pytest.mark.parametrize(("deep", "plain"), [(0, 0), (257, 1), (32896, 128), (65535, 255)])
def test_sixteen_bit_grey_is_scaled_to_eight_bits(deep: int, plain: int) -> None:
    image = Image.new("I;16", (3, 2), deep)
    for kind in ("PNG", "TIFF"):
        assert pixel(decode(encoded(image, kind), "picture"), 2, 1) == (plain, plain, plain)


def test_sixteen_bit_pgm_is_scaled() -> None:
    data = b"P5 2 1 65535\n" + struct.pack(">HH", 32896, 65535)
    assert pixel(decode(data, "picture"), 0, 0) == (128, 128, 128)


def test_floating_point_grey_spans_from_black_to_white() -> None:
    image = Image.new("F", (2, 1), -3.0)
    image.putpixel((1, 0), 7.0)
    picture = decode(encoded(image, "TIFF"), "picture")
    assert [pixel(picture, x, 0)[0] for x in (0, 1)] == [0, 255]


def test_a_sixteen_bit_colour_png_becomes_eight_bit() -> None:
    header = struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)
    body = zlib.compress(b"\0" + struct.pack(">HHH", 65535, 0, 0))
    data = bytearray(b"\x89PNG\r\n\x1a\n")
    for kind, chunk in ((b"IHDR", header), (b"IDAT", body), (b"IEND", b"")):
        data += struct.pack(">I", len(chunk)) + kind + chunk + struct.pack(">I", zlib.crc32(kind + chunk))
    picture = decode(bytes(data), "picture")
    assert picture.data[24] == 8
    assert pixel(picture, 0, 0) == RED


def test_a_transparent_palette_is_laid_on_white() -> None:
    image = Image.new("P", (10, 10), 0)
    image.putpalette([*RED, *BLUE])
    image.paste(1, (5, 0, 10, 10))
    picture = decode(encoded(image, "PNG", transparency=0), "picture")
    assert opened(picture).mode == "RGB"
    assert (pixel(picture, 0, 0), pixel(picture, 9, 9)) == (WHITE, BLUE)


def test_a_transparent_colour_is_laid_on_white() -> None:
    picture = decode(encoded(Image.new("RGB", (10, 10), RED), "PNG", transparency=RED), "picture")
    assert pixel(picture, 5, 5) == WHITE


def test_half_transparent_red_is_pink() -> None:
    picture = decode(encoded(Image.new("RGBA", (10, 10), (*RED, 128)), "PNG"), "picture")
    assert pixel(picture, 5, 5) == (255, 127, 127)


@pytest.mark.parametrize("turn", range(2, 9))
def test_an_image_turned_by_its_exif_comes_in_upright(turn: int) -> None:
    image = Image.new("RGB", (64, 32), RED)
    image.paste(BLUE, (0, 0, 32, 32))
    exif = Image.Exif()
    exif[Base.Orientation] = turn
    picture = decode(encoded(image, "JPEG", exif=exif, quality=95), "picture")
    size = (64, 32) if turn < 5 else (32, 64)
    assert (picture.width, picture.height) == opened(picture).size == size
    blue_first = turn in (4, 5, 6)
    assert (pixel(picture, 4, 4)[2] > 200) is blue_first
    assert opened(picture).getexif().get(Base.Orientation, 1) == 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("turn", [1, 6])
def test_where_a_photo_was_taken_is_not_kept(kind: str, turn: int) -> None:
    exif = Image.Exif()
    exif[Base.Orientation], exif[Base.Make] = turn, "Secret Camera"
    exif.get_ifd(IFD.GPSInfo)[1] = "N"
    comment = {"comment": b"Secret Comment"} if kind == "JPEG" else {}
    data = encoded(noise(64, 32), kind, exif=exif, **comment)
    picture = decode(data, "picture")
    assert b"Secret Camera" in data
    assert b"Secret" not in picture.data
    assert dict(opened(picture).getexif()) == {}


def test_taking_metadata_out_of_a_jpeg_leaves_its_pixels_as_they_are() -> None:
    exif = Image.Exif()
    exif[Base.Make] = "Secret Camera"
    data = encoded(noise(64, 32), "JPEG", exif=exif, icc_profile=b"a profile of colours")
    picture = decode(data, "picture")
    assert b"a profile of colours" in picture.data
    assert opened(picture).tobytes() == Image.open(BytesIO(data)).convert("RGB").tobytes()


def test_an_animation_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in (RED, GREEN, BLUE)]
    for kind in ("GIF", "PNG", "WEBP", "TIFF"):
        options = {"lossless": True} if kind == "WEBP" else {}
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        picture = decode(data, "picture")
        assert (getattr(opened(picture), "n_frames", 1), pixel(picture, 0, 0)) == (1, RED)


def test_a_stereo_photo_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in (RED, BLUE)]
    picture = decode(encoded(frames[0], "MPO", save_all=True, append_images=frames[1:]), "picture")
    assert (picture.mime, pixel(picture, 0, 0)[0] > 200) == ("image/jpeg", True)
    assert getattr(opened(picture), "n_frames", 1) == 1


def test_one_pixel_is_an_image() -> None:
    data = encoded(Image.new("RGB", (1, 1), RED), "PNG")
    assert decode(data, "picture") == Picture(data, "image/png", 1, 1)


def test_the_same_file_twice_is_the_same_image(tmp_path: Path) -> None:
    path = tmp_path / "picture.gif"
    path.write_bytes(encoded(Image.new("RGB", (20, 10), RED), "GIF"))
    first, second = read(path), read(str(path))
    assert first == second
    assert file_hash(first) == file_hash(second)


@pytest.fixture(scope="module")
def hundred_megapixels() -> Picture:
    return decode(encoded(Image.new("L", (10_000, 10_000), 99), "JPEG"), "picture")


def test_a_hundred_megapixels_are_read_whole(hundred_megapixels: Picture) -> None:
    assert (hundred_megapixels.width, hundred_megapixels.height) == (10_000, 10_000)


def test_a_hundred_megapixels_are_sent_small(hundred_megapixels: Picture) -> None:
    fitted = fit(hundred_megapixels)
    assert (fitted.picture.width, fitted.picture.height) == (2048, 2048)
    assert fitted.to_original(1024, 2048) == (5000, 10_000)


def test_a_decompression_bomb_is_refused_by_its_header() -> None:
    with pytest.raises(ImageError, match="30000x30000 pixels, more than 200,000,000; scale it down"):
        decode(png(30_000, 30_000), "bomb.png")


def test_the_limit_of_pillow_is_not_ours() -> None:
    with pytest.raises(ImageError, match="cut short") as caught:  # it has no body, but its size is allowed
        decode(png(19_990, 10_000), "large.png")
    assert "exceeds" not in str(caught.value)


@pytest.mark.parametrize("size", [(0, 10), (10, 0)])
def test_an_image_without_pixels_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ImageError):
        decode(png(*size), "nothing.png")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM"])
def test_a_file_cut_short_is_refused(kind: str) -> None:
    data = encoded(noise(64, 64), kind)
    for length in (20, len(data) // 2, len(data) * 9 // 10):
        with pytest.raises(ImageError, match="cut short"):
            decode(data[:length], "picture")


def test_a_jpeg_without_its_body_is_refused() -> None:
    data = encoded(noise(64, 64), "JPEG")
    head = data[: data.index(b"\xff\xc4")]  # up to its tables
    with pytest.raises(ImageError, match="cut short"):
        decode(head + b"\xff\xd9", "picture")


def test_an_image_with_broken_exif_comes_in() -> None:
    exif = b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01\x03\0\x01\0\0\0"
    data = encoded(Image.new("RGB", (40, 30), RED), "JPEG", exif=exif)
    picture = decode(data, "picture")
    assert (picture.width, picture.height) == (40, 30)
    assert b"Exif" not in picture.data


def test_a_png_without_its_last_chunk_is_made_whole() -> None:
    data = encoded(Image.new("RGB", (20, 10), RED), "PNG")
    picture = decode(data[:-12], "picture")
    assert picture.data.endswith(b"IEND\xaeB`\x82")


def test_what_hides_behind_an_image_is_left_out() -> None:
    picture = decode(encoded(Image.new("RGB", (20, 10), RED), "PNG") + b"PK\x03\x04 secret", "picture")
    assert b"secret" not in picture.data


def complaint(data: bytes) -> str:
    """What is said against these bytes; nothing when they are a picture."""
    try:
        picture = decode(data, "picture")
    except ImageError as error:
        return str(error)
    assert (picture.width, picture.height) == opened(picture).size
    return ""


@calm
@given(st.binary(max_size=400), st.integers(0, 300))
def test_garbage_is_an_image_or_refused_in_one_line(garbage: bytes, start: int) -> None:
    whole = encoded(Image.new("RGB", (16, 16), RED), "PNG")
    for data in (garbage, whole[:start] + garbage + whole[start + len(garbage) :]):
        assert complaint(data).isprintable()


@calm
@given(
    kind=st.sampled_from(["JPEG", "GIF", "WEBP", "TIFF", "BMP", "PPM"]),
    at=st.integers(0, 2000),
    bit=st.integers(0, 7),
)
def test_a_flipped_bit_leaves_an_image_or_is_refused_in_one_line(kind: str, at: int, bit: int) -> None:
    data = bytearray(encoded(Image.linear_gradient("L").resize((16, 16)).convert("RGB"), kind))
    data[at % len(data)] ^= 1 << bit
    assert complaint(bytes(data)).isprintable()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "nothing.png")
    assert "nothing.png" in refusal(tmp_path / "nothing.png")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.png"
    path.touch()
    assert "is empty" in refusal(path)


def test_an_empty_path_is_refused() -> None:
    assert "the path is empty" in refusal("")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"just some words\n", "text"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "a PostScript document"),
        (b"<?xml version='1.0'?><svg xmlns='x'/>", "an SVG drawing"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\0\0\0\x18ftypheic", "a HEIC photo"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\x7fELF\x02\x01\x01\0", "data of another kind"),
    ],
)
def test_the_error_about_a_file_that_is_not_an_image_names_its_kind(
    tmp_path: Path, data: bytes, what: str
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    assert f"it looks like {what}" in refusal(path)


@pytest.mark.parametrize(
    "url", ["https://example.org/a.png", "HTTP://x/a.png", "data:image/png;base64,iVBOR"]
)
def test_a_url_is_not_fetched(url: str) -> None:
    assert "URLs are not fetched; download the image" in refusal(url)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert "symbolic links" in refusal(tmp_path / "a")


def test_a_pipe_is_refused_before_it_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")


def test_a_file_without_permission_is_refused(unreadable: Path) -> None:
    assert "permission denied" in refusal(unreadable)


def test_a_file_over_the_byte_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(image_reader.MAX_FILE_BYTES + 1)
    assert "larger than 268,435,456 bytes" in refusal(path)


@pytest.mark.parametrize(
    "name", ["a\nb.png", "a\0b.png", "\x1b[31mred.png", "x" * 250, "y" * 5000, "\u202egnp.a", "\udcff"]
)
def test_a_hostile_name_stays_on_one_line(tmp_path: Path, name: str) -> None:
    assert len(refusal(tmp_path / name)) < 500


def test_no_limit_of_pillow_is_changed_for_others() -> None:
    before = Image.MAX_IMAGE_PIXELS
    with pytest.raises(ImageError):
        decode(png(30_000, 30_000), "bomb.png")
    assert before == Image.MAX_IMAGE_PIXELS is not None


def test_the_file_of_an_image_is_named_by_its_hash() -> None:
    assert file_hash(Picture(b"abc", "image/jpeg", 1, 1)).startswith("ba7816bf8f01cfea")


@pytest.mark.parametrize(("mime", "expected"), [("image/jpeg", ".jpg"), ("image/png", ".png")])
def test_the_file_of_an_image_ends_with_its_kind(
    mime: Literal["image/png", "image/jpeg"], expected: str
) -> None:
    assert suffix(Picture(b"abc", mime, 1, 1)) == expected
