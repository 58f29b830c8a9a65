from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from sandbox.protocol.png import InvalidImage, read_header, rebuild
from tests.sandbox.protocol.png_files import END, SIGNATURE, chunk, header, png_file, raw_pixels

# How fast a loaded machine makes examples says nothing about the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST_PIXELS = 100_000
MODES = ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]


def verified(data: bytes, most_pixels: int = MOST_PIXELS) -> bytes:
    return rebuild(data, read_header(data, most_pixels))


def saved(image: Image.Image, **options: object) -> bytes:
    sink = io.BytesIO()
    image.save(sink, "PNG", **options)
    return sink.getvalue()


def noise(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(np.arange(37 * 23, dtype=np.uint16).reshape(23, 37) * 70)
    bands = [Image.effect_noise((37, 23), 80) for _ in range(4)]
    return Image.merge("RGBA", bands).convert(mode)


def matplotlib_figure(*, transparent: bool = False) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure, sink = Figure(figsize=(3, 2)), io.BytesIO()
    FigureCanvasAgg(figure)
    figure.subplots().plot([1, 3, 2])
    figure.savefig(sink, format="png", transparent=transparent)
    return sink.getvalue()


def golden() -> Iterator[tuple[str, bytes]]:
    for mode in MODES:
        yield mode, saved(noise(mode))
        yield f"{mode} with metadata", saved(noise(mode), dpi=(72, 72), icc_profile=b"p" * 200)
    palette = noise("P")
    yield "P with a transparent colour", saved(palette, transparency=3)
    yield "P with opacities", saved(palette, transparency=bytes(range(200)))
    for bits in (1, 2, 4):
        yield f"P of {bits} bits", saved(noise("RGB").quantize(2**bits), bits=bits)
    yield "L with a transparent grey", saved(noise("L"), transparency=7)
    yield "RGB with a transparent colour", saved(noise("RGB"), transparency=(1, 2, 3))
    yield "many chunks of pixels", saved(Image.effect_noise((400, 250), 90))
    for depth in (1, 2, 4):
        yield f"grey of {depth} bits", png_file(37, 23, depth=depth)
    for colour in (2, 4, 6):
        yield f"16 bits of colour type {colour}", png_file(37, 23, depth=16, colour=colour)


GOLDEN = dict(golden())


def check_pixels(data: bytes) -> None:
    before, after = (Image.open(io.BytesIO(each)) for each in (data, verified(data)))
    assert after.mode == before.mode
    assert np.array_equal(np.asarray(after.convert("RGBA")), np.asarray(before.convert("RGBA")))


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_of_a_common_encoder_keeps_its_pixels(name: str) -> None:
    check_pixels(GOLDEN[name])


@pytest.mark.parametrize("transparent", [False, True])
def test_a_figure_of_matplotlib_keeps_its_pixels(*, transparent: bool) -> None:
    check_pixels(matplotlib_figure(transparent=transparent))


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_rebuilt_is_rebuilt_as_itself(name: str) -> None:
    once = verified(GOLDEN[name])
    assert verified(once) is once


def test_a_rebuilt_figure_of_matplotlib_is_rebuilt_as_itself() -> None:
    once = verified(matplotlib_figure())
    assert verified(once) is once


def test_only_the_pixels_are_left_of_a_file_with_metadata() -> None:
    extra = chunk(b"tEXt", b"a\0b") + chunk(b"eXIf", b"MM") + chunk(b"iCCP", b"c") + chunk(b"prVt", b"d")
    assert verified(png_file(4, 3, extra, after=extra)) == png_file(4, 3)


def test_a_suggested_palette_is_left_out() -> None:
    assert verified(png_file(4, 3, chunk(b"PLTE", bytes(6)), colour=2)) == png_file(4, 3, colour=2)


@pytest.mark.parametrize(
    ("width", "height", "why"),
    [
        (0, 10, "without a pixel"),
        (1000, 101, "of 1000x101 pixels: the limit is 100000"),
        (2**31, 2**31, "the limit is 100000"),
        (1, 201, "one side is over 200 times the other"),
        (402, 2, "one side is over 200 times the other"),
    ],
)
def test_a_size_over_the_limits_is_refused_by_the_header(width: int, height: int, why: str) -> None:
    with pytest.raises(InvalidImage, match=why):
        read_header(SIGNATURE + header(width, height), MOST_PIXELS)


PIXELS = chunk(b"IDAT", zlib.compress(raw_pixels(4, 3)))
GREY = SIGNATURE + header(4, 3)
INDEXED = SIGNATURE + header(4, 3, colour=3)
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not a PNG file"),
    "a JPEG file": (b"\xff\xd8\xff\xe0" + bytes(40), "not a PNG file"),
    "a header of the wrong checksum": (SIGNATURE + header(4, 3)[:-1] + b"x" + PIXELS + END, "damaged PNG h"),
    "a long header": (SIGNATURE + chunk(b"IHDR", bytes(14)) + PIXELS + END, "damaged PNG header"),
    "no header": (SIGNATURE + PIXELS + END, "damaged PNG header"),
    "two headers": (GREY + header(9, 9) + PIXELS + END, "IHDR out of place"),
    "interlacing": (SIGNATURE + header(4, 3, rest=b"\0\0\1") + PIXELS + END, "interlaced"),
    "an unknown compression": (SIGNATURE + header(4, 3, rest=b"\1\0\0") + PIXELS + END, "no viewer knows"),
    "an unknown colour": (SIGNATURE + header(4, 3, 8, 5) + PIXELS + END, "no viewer knows"),
    "a depth that its colour has not": (SIGNATURE + header(4, 3, 4, 2) + PIXELS + END, "no viewer knows"),
    "no end": (GREY + PIXELS, "truncated"),
    "an end with content": (GREY + PIXELS + chunk(b"IEND", b"a"), "IEND out of place"),
    "no pixels": (GREY + END, "IEND out of place"),
    "data after its end": (GREY + PIXELS + END + b"PK\3\4", "after the end"),
    "a second file after it": (GREY + PIXELS + END + GREY + PIXELS + END, "after the end"),
    "a chunk past its end": (GREY + b"\xff\xff\xff\xffIDAT" + bytes(50), "truncated or damaged"),
    "a wrong checksum": (GREY + PIXELS[:-1] + b"x" + END, "damaged PNG chunk IDAT"),
    "a wrong checksum of a text": (GREY + chunk(b"tEXt", b"a\0b")[:-1] + b"x" + PIXELS + END, "chunk tEXt"),
    "a chunk without a name": (GREY + chunk(b"ID\0T", b"") + PIXELS + END, "truncated or damaged"),
    "a chunk that viewers must know": (GREY + chunk(b"ABCD", b"") + PIXELS + END, "ABCD out of place"),
    "pixels in two places": (GREY + PIXELS + chunk(b"tEXt", b"a\0b") + PIXELS + END, "IDAT out of place"),
    "too many chunks": (GREY + chunk(b"tEXt", b"") * 70 + PIXELS + END, "too many chunks"),
    "no palette": (INDEXED + PIXELS + END, "without the palette"),
    "an empty palette": (INDEXED + chunk(b"PLTE", b"") + PIXELS + END, "palette of the wrong size"),
    "a broken palette": (INDEXED + chunk(b"PLTE", bytes(4)) + PIXELS + END, "palette of the wrong size"),
    "a large palette": (INDEXED + chunk(b"PLTE", bytes(771)) + PIXELS + END, "palette of the wrong size"),
    "a palette of grey": (GREY + chunk(b"PLTE", bytes(3)) + PIXELS + END, "palette of the wrong size"),
    "two palettes": (INDEXED + chunk(b"PLTE", bytes(3)) * 2 + PIXELS + END, "PLTE out of place"),
    "a palette after the pixels": (INDEXED + PIXELS + chunk(b"PLTE", bytes(3)) + END, "PLTE out of place"),
    "transparency before the palette": (INDEXED + chunk(b"tRNS", b"a") + PIXELS + END, "tRNS out of place"),
    "more opacities than colours": (
        INDEXED + chunk(b"PLTE", bytes(3)) + chunk(b"tRNS", bytes(2)) + PIXELS + END,
        "transparency",
    ),
    "a transparent grey of two bytes more": (GREY + chunk(b"tRNS", bytes(4)) + PIXELS + END, "transparency"),
    "a transparent grey past white": (GREY + chunk(b"tRNS", b"\1\0") + PIXELS + END, "transparency"),
    "transparency beside opacity": (png_file(4, 3, chunk(b"tRNS", bytes(2)), colour=4), "transparency"),
    "pixels that are no stream": (png_file(4, 3, pixels=b"junk" * 9), "cannot be decompressed"),
    "pixels of a wrong sum": (png_file(4, 3, pixels=zlib.compress(bytes(15))[:-1] + b"x"), "cannot be dec"),
    "fewer pixels": (png_file(4, 3, pixels=zlib.compress(bytes(14))), "fewer PNG pixels"),
    "more pixels": (png_file(4, 3, pixels=zlib.compress(bytes(16))), "more PNG pixels"),
    "far more pixels": (png_file(4, 3, pixels=zlib.compress(bytes(2**24))), "more PNG pixels"),
    "a stream without an end": (png_file(4, 3, pixels=zlib.compress(bytes(15))[:-4]), "truncated"),
    "an empty stream": (png_file(4, 3, pixels=b""), "truncated"),
    "data after the stream": (png_file(4, 3, pixels=zlib.compress(bytes(15)) + b"more"), "after its PNG pix"),
    "an unknown filter": (png_file(4, 3, pixels=zlib.compress(bytes(10) + b"\5" + bytes(4))), "unknown filt"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_for(name: str) -> None:
    data, why = REFUSED[name]
    with pytest.raises(InvalidImage, match=why):
        verified(data)


@pytest.mark.parametrize("rows", [1, 1499, 1500, 2999])
def test_an_unknown_filter_is_found_in_every_row(rows: int) -> None:
    raw = bytearray(3000 * 1501)  # more than is inflated at once
    raw[rows * 1501] = 9
    data = png_file(1500, 3000, pixels=zlib.compress(bytes(raw)))
    with pytest.raises(InvalidImage, match="unknown filter"):
        verified(data, 10**7)


def test_pixels_in_pieces_of_any_size_are_one_stream() -> None:
    stream = zlib.compress(raw_pixels(40, 30))
    pieces = b"".join(chunk(b"IDAT", stream[at : at + 1]) for at in range(len(stream)))
    whole = SIGNATURE + header(40, 30) + pieces + END
    assert verified(whole) is whole


def test_an_error_says_why_in_one_line() -> None:
    assert all("\n" not in why and len(why) < 100 for _, why in REFUSED.values())


def cut(data: bytes, at: int, _: bytes) -> bytes:
    return data[:at]


def changed(data: bytes, at: int, by: bytes) -> bytes:
    return data[:at] + by + data[at + len(by) :]


def inserted(data: bytes, at: int, by: bytes) -> bytes:
    return data[:at] + by + data[at:]


def with_checksums(data: bytes) -> bytes:
    """Every chunk made to match its checksum, as far as there are chunks: past that check lies the rest of it."""
    found, at = [data[:8]], 8
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        found.append(data[at:end] + zlib.crc32(data[at + 4 : end]).to_bytes(4, "big"))
        at = end + 4
    return b"".join(found)


mutations = st.tuples(
    st.sampled_from([cut, changed, inserted]), st.integers(0, 400), st.binary(min_size=1, max_size=8)
)


@patient
@given(
    st.sampled_from(sorted(GOLDEN)),
    st.lists(mutations, min_size=1, max_size=3),
    st.sampled_from([with_checksums, bytes]),
)
def test_whatever_passes_is_decoded_to_the_size_that_it_claims(
    name: str, changes: list[tuple[Callable[[bytes, int, bytes], bytes], int, bytes]], last: type[bytes]
) -> None:
    data = GOLDEN[name]
    for change, at, by in changes:
        data = change(data, at, by)
    data = last(data)
    try:
        found = read_header(data, MOST_PIXELS)
        data = rebuild(data, found)
    except InvalidImage:
        return
    with warnings.catch_warnings(action="error"), Image.open(io.BytesIO(data)) as image:
        image.load()
        assert (image.format, image.size) == ("PNG", (found.width, found.height))


@patient
@given(st.binary(max_size=200))
def test_no_bytes_after_a_header_make_it_raise_anything_else(rest: bytes) -> None:
    with pytest.raises(InvalidImage):
        verified(GREY + rest)
