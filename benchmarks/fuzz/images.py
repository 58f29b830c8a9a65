"""Targets: image files that a cell shows or passes to the host, and the arguments of host function calls."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from random import Random
from typing import Any

from benchmarks.fuzz.campaign import Read, Target
from sandbox.policy import Policy
from sandbox.protocol.figures import FigureReader, measure
from sandbox.protocol.png import InvalidImage
from sandbox.protocol.values import Decoder, NotPlain, encode
from sandbox.results import Figure

_POLICY = Policy(figure_pixels=1_000_000)
_UNLIMITED = 2**62  # bytes that all figures of one cell may inflate to
_PNG = b"\x89PNG\r\n\x1a\n"
_FIXED_CHECKSUMS = 0.5  # share of mutated PNG files with new checksums, to reach the code behind that check
_END = b"\0\xff\0"  # between the JSON and each buffer
_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
_KEYS = ("a", "", "__bytes__", "__picture__", "__float__", "__int__", "__dict__")
_STRINGS = ("", "nan", "inf", "0x1f", "-0x" + "f" * 300, "z", "\ud800", "😀", "x" * 5_000)


def _image_file(random: Random) -> bytes:
    """A PNG or JPEG file from a common encoder; its first byte says whether its checksums are corrected."""
    return bytes((random.random() < _FIXED_CHECKSUMS,)) + random.choice(_files())


@cache
def _files() -> tuple[bytes, ...]:
    from PIL import Image, PngImagePlugin

    random = Random(0)
    text = PngImagePlugin.PngInfo()
    text.add_text("Software", "a" * 200, zip=True)
    files = []
    for size in ((1, 1), (40, 30), (300, 2), (7, 200)):
        noise = Image.frombytes("RGBA", size, random.randbytes(4 * size[0] * size[1]))
        for mode in _MODES:
            image = noise.convert("L").convert("I").convert("I;16") if mode == "I;16" else noise.convert(mode)
            files.append(_save(image, "PNG", pnginfo=text, dpi=(72, 72)))
        for mode in ("L", "RGB"):
            files.append(_save(noise.convert(mode), "JPEG", comment=b"c" * 50))
            files.append(_save(noise.convert(mode), "JPEG", progressive=True, optimize=True))
    return tuple(files)


def _save(image: Any, kind: str, **options: Any) -> bytes:
    sink = io.BytesIO()
    image.save(sink, kind, **options)
    return sink.getvalue()


@contextmanager
def _open_headers() -> Iterator[Read]:
    """An accepted PNG file must decode in Pillow; a JPEG file is only opened, since its data may be damaged."""
    reader = FigureReader(_POLICY, _UNLIMITED)

    def read(data: bytes) -> None:
        file = _with_checksums(data[1:]) if data[:1] == b"\1" else data[1:]
        measure(file)
        with suppress(InvalidImage):
            _assert_consistent(reader.read(file))

    yield read


def _assert_consistent(figure: Figure) -> None:
    from PIL import Image

    with warnings.catch_warnings(action="error"), Image.open(io.BytesIO(figure.data)) as image:
        assert (image.size, Image.MIME[str(image.format)]) == ((figure.width, figure.height), figure.mime)
        if figure.mime == "image/png":
            image.load()
            assert figure.data.endswith(b"IEND\xaeB`\x82")
            assert not {"tEXt", "zTXt", "iTXt", "eXIf", "iCCP"} & set(_kinds(figure.data))


def _kinds(data: bytes) -> Iterator[str]:
    at = len(_PNG)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind.decode()
        at += 12 + length


def _with_checksums(data: bytes) -> bytes:
    """The PNG file with correct checksums, as far as it consists of chunks."""
    found, at = [data[: len(_PNG)]], len(_PNG)
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        found += [data[at:end], zlib.crc32(data[at + 4 : end]).to_bytes(4, "big")]
        at = end + 4
    return b"".join([*found, data[at:]]) if data.startswith(_PNG) else data


def _call(random: Random) -> bytes:
    """The JSON of a value, and the buffers it refers to."""
    buffers = [random.choice((b"", b"some bytes", *_files()[:8])) for _ in range(random.randint(0, 3))]
    return _END.join([json.dumps(_value(random, 0)).encode(), *buffers])


def _value(random: Random, level: int) -> Any:
    plain = (None, True, random.randint(-(2**70), 2**70), random.random(), random.choice(_STRINGS))
    kind = random.choice(("plain", "special", "list", "dict", "pairs") if level < 5 else ("plain", "special"))
    if kind == "plain":
        return random.choice(plain)
    if kind == "special":
        return {random.choice(_KEYS): random.choice((-1, 0, 1, 2, *_STRINGS))}
    inner = [_value(random, level + 1) for _ in range(random.randint(0, 4))]
    if kind == "list":
        return inner
    keyed = [[random.choice(_KEYS), each] for each in inner]
    return {"__dict__": keyed} if kind == "pairs" else dict(keyed)


@contextmanager
def _open_values() -> Iterator[Read]:
    """A decoded value must be plain: it can be encoded again."""

    def read(data: bytes) -> None:
        sent, *buffers = data.split(_END)
        try:
            value = json.loads(sent)
        except (ValueError, RecursionError):
            return  # refused before decoding
        with suppress(NotPlain):
            decoded = Decoder(buffers, FigureReader(_POLICY, _UNLIMITED)).decode(value)
            encode(decoded, [])

    yield read


HEADERS = Target("headers", _image_file, _open_headers)
VALUES = Target("values", _call, _open_values)
