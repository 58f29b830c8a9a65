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


def test_an_invalid_image_file_leaves_a_note(prepared: Session) -> None:
    (output,) = prepared.run("display({'image/jpeg': b'junk'}, raw=True)").outputs
    assert isinstance(output, Omitted)
    assert output.note.startswith("image/jpeg not shown: UnidentifiedImageError")


def test_text_beside_an_image_that_is_not_shown_is_not_lost(prepared: Session) -> None:
    result = prepared.run("print('before'); display({'image/jpeg': b'junk'}, raw=True); print('after')")
    assert [type(output).__name__ for output in result.outputs] == ["Stream", "Omitted", "Stream"]


def test_a_large_image_is_shown_smaller(narrow: Session) -> None:
    result = narrow.run("display(Image.new('RGB', (400, 200)))")
    (figure,) = result.figures
    assert (figure.width, figure.height) == (77, 38)
    assert "the image of 400x200 pixels is shown at 77x38" in result.text


def test_an_image_of_many_bytes_is_shown_smaller(narrow: Session) -> None:
    (figure,) = narrow.run("display(Image.effect_noise((50, 50), 90))").figures
    assert figure.width < 50
    assert len(figure.data) <= 2000


def test_an_empty_image_leaves_a_note(prepared: Session) -> None:
    outputs = prepared.run("display(Image.new('RGB', (0, 5)))").outputs
    assert outputs[0] == Omitted("image of 0x5 pixels not shown: it is empty")


@pytest.mark.parametrize(
    "code",
    [
        "display(image_clue_0); display(image_clue_0)",
        "display(image_clue_0); image_clue_0",
        "fig = plt.figure(); plt.plot([1]); plt.show(); fig",
        "fig = plt.figure(); plt.plot([1]); display(fig); plt.show()",
        "plt.plot([1]); plt.savefig('f.png'); plt.show()",
        "plt.plot([1]); plt.savefig('f.png'); plt.savefig('f.pdf')",
        "plt.plot([1]); plt.savefig('f.png'); plt.close()",
    ],
)
def test_the_same_image_is_sent_once_in_a_cell(prepared: Session, code: str) -> None:
    result = prepared.run(code)
    assert (result.status, len(result.figures)) == ("ok", 1)


def test_an_image_of_an_earlier_cell_is_sent_again(prepared: Session) -> None:
    assert [len(prepared.run("display(image_clue_0)").figures) for _ in range(2)] == [1, 1]


def test_a_figure_that_is_only_saved_is_shown(prepared: Session) -> None:
    figure = figure_of(
        prepared, "fig = plt.figure(figsize=(2, 1)); plt.plot([1]); fig.savefig('f.png'); plt.close()"
    )
    assert figure.width > figure.height


def test_many_saved_figures_are_named(prepared: Session) -> None:
    code = "for n in range(6):\n    plt.figure(figsize=(1, 1)); plt.plot([n]); plt.savefig(f's{n}.png'); plt.close()"
    result = prepared.run(code)
    assert len(result.figures) == 4
    assert (
        result.text == "[saved, and not shown: s4.png, s5.png; to see one, run display(Image.open(FILE))]\n"
    )


def test_a_figure_that_was_saved_in_an_earlier_cell_is_not_shown_again(prepared: Session) -> None:
    prepared.run("fig = plt.figure(figsize=(1, 1)); fig.savefig('f.png')")
    assert prepared.run("1").figures == ()


@pytest.mark.parametrize(
    "code",
    [
        "plt.imshow(image_clue_0)",
        "plt.plot([1], [2])",
        "plt.title('a')",
        "plt.bar([1], [2])",
        "plt.subplots(2, 2)",
    ],
)
def test_what_matplotlib_has_drawn_is_no_output(prepared: Session, code: str) -> None:
    result = prepared.run(code)
    assert (result.text, len(result.figures)) == ("", 1)


def test_numbers_beside_what_matplotlib_has_drawn_are_output(prepared: Session) -> None:
    assert "array([1., 0., 0." in prepared.run("plt.hist([1, 2])").text


def test_a_list_that_contains_itself_is_output(prepared: Session) -> None:
    assert prepared.run("a = []; a.append(a); a").text == "[[...]]\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("np.float64(3.5)", "3.5"),
        ("print([np.int64(4), np.float32(0.5)])", "[4, 0.5]"),
        ("{'a': np.True_}", "{'a': True}"),
        (
            "import threading\nt = threading.Thread(target=lambda: print([np.int8(1)])); t.start(); t.join()",
            "[1]",
        ),
    ],
)
def test_numbers_of_numpy_print_as_numbers(prepared: Session, code: str, text: str) -> None:
    assert prepared.run(code).text.strip() == text
