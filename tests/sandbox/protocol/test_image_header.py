from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from sandbox.protocol.figures import measure

# How fast a loaded machine makes examples says nothing about the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_the_size_is_read_from_the_header(kind: str, mime: str) -> None:
    sink = io.BytesIO()
    Image.new("RGB", (123, 45)).save(sink, kind)
    assert measure(sink.getvalue()) == (mime, 123, 45)


def test_the_size_of_a_progressive_jpeg_with_a_comment_is_read() -> None:
    sink = io.BytesIO()
    Image.new("L", (33, 7)).save(sink, "JPEG", progressive=True, comment=b"x" * 500)
    assert measure(sink.getvalue()) == ("image/jpeg", 33, 7)


def test_an_image_without_pixels_is_invalid() -> None:
    sink = io.BytesIO()
    Image.new("RGB", (1, 1)).save(sink, "PNG")
    data = sink.getvalue()
    assert measure(data[:16] + bytes(8) + data[24:]) is None


@patient
@given(st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"\xff\xd8\xff\xe0"]), st.binary(max_size=80))
def test_no_bytes_make_it_raise(start: bytes, rest: bytes) -> None:
    measured = measure(start + rest)
    assert measured is None or (measured[1] > 0 and measured[2] > 0)


def test_a_jpeg_with_two_sizes_is_invalid() -> None:
    sink = io.BytesIO()
    Image.new("RGB", (33, 7)).save(sink, "JPEG")
    data = sink.getvalue()
    at = data.index(b"\xff\xc0")
    assert measure(data[:at] + data[at : at + 19] + data[at:]) is None


def test_padding_before_a_marker_is_passed_over() -> None:
    sink = io.BytesIO()
    Image.new("RGB", (33, 7)).save(sink, "JPEG")
    data = sink.getvalue()
    assert measure(data[:2] + b"\xff" * 1_000_000 + data[2:]) == ("image/jpeg", 33, 7)
