"""Whatever kind of image a cell shows, the host is handed a PNG file."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from PIL import Image

from sandbox import Figure, Omitted, Policy, Sandbox, Session

MAKE = """
import base64, io
from IPython.display import Image as Shown, display

def file(kind, size=(40, 30), **options):
    sink = io.BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(sink, kind, **options)
    return sink.getvalue()
"""


@pytest.fixture(scope="module")
def prepared(session: Session) -> Session:
    assert session.run(MAKE).status == "ok"
    return session


@pytest.fixture(scope="module")
def narrow() -> Iterator[Session]:
    """A session in which figures are small."""
    policy = Policy(cell_timeout_s=20, figure_pixels=3000, figure_bytes=2000)
    with Sandbox(policy) as sandbox, sandbox.open() as session:
        assert session.run(MAKE).status == "ok"
        yield session


def figure_of(session: Session, code: str) -> Figure:
    result = session.run(code)
    assert result.status == "ok", result.error
    (output,) = result.outputs
    assert isinstance(output, Figure), output
    return output


@pytest.mark.parametrize(
    "code",
    [
        "Shown(file('JPEG'))",
        "display(Shown(file('JPEG')))",
        "display({'image/jpeg': file('JPEG')}, raw=True)",
        "display({'image/jpeg': base64.encodebytes(file('JPEG')).decode()}, raw=True)",
        "display({'image/webp': file('WEBP')}, raw=True)",
        "Shown(file('GIF'), format='gif')",
        "Shown(file('PNG'))",
        "Shown(file('PNG', dpi=(72, 72)))",
        "display({'image/png': file('PNG')}, raw=True)",
    ],
)
def test_an_image_file_of_any_kind_is_shown_as_png(prepared: Session, code: str) -> None:
    figure = figure_of(prepared, code)
    assert (figure.mime, figure.width, figure.height) == ("image/png", 40, 30)
    assert Image.open(io.BytesIO(figure.data)).size == (40, 30)


def test_a_photo_is_shown_upright(prepared: Session) -> None:
    figure = figure_of(prepared, "e = Image.Exif(); e[0x0112] = 6; Shown(file('JPEG', exif=e))")
    assert (figure.width, figure.height) == (30, 40)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_file_with_too_many_pixels_is_shown_smaller(narrow: Session, kind: str) -> None:
    figure = figure_of(narrow, f"Shown(file({kind!r}, (400, 200)))")
    assert figure.width * figure.height <= 3000
    assert len(figure.data) <= 2000


def test_an_interlaced_file_is_shown(prepared: Session) -> None:
    header = "bytes([0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 1])"  # 2x2 pixels of grey, interlaced
    code = (
        "import struct, zlib\n"
        "def chunk(kind, content):\n"
        "    sum = zlib.crc32(kind + content)\n"
        "    return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', sum)\n"
        f"whole = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', {header})\n"
        "whole += chunk(b'IDAT', zlib.compress(bytes(2 + 2 + 3))) + chunk(b'IEND', b'')\n"
        "Shown(whole)"
    )
    figure = figure_of(prepared, code)
    assert (figure.width, figure.height) == (2, 2)


def test_a_file_that_is_none_leaves_a_note(prepared: Session) -> None:
    (output,) = prepared.run("display({'image/jpeg': b'junk'}, raw=True)").outputs
    assert isinstance(output, Omitted)
    assert output.note.startswith("image/jpeg not shown: UnidentifiedImageError")


def test_text_beside_an_image_that_is_not_shown_is_not_lost(prepared: Session) -> None:
    result = prepared.run("print('before'); display({'image/jpeg': b'junk'}, raw=True); print('after')")
    assert [type(output).__name__ for output in result.outputs] == ["Stream", "Omitted", "Stream"]
