"""Which files become images in the kernel, and how they look there."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sandbox import ImageData, ImageError, Policy, Sandbox, Session
from tests.sandbox.conftest import png


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    sink = io.BytesIO()
    image.save(sink, kind, **options)
    return sink.getvalue()


def seen(session: Session, data: bytes, expression: str) -> str:
    session.define({"picture": data})
    return session.run(f"print(picture.mode, {expression})").text.strip()


def test_a_path_becomes_the_same_image_as_its_bytes(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "a photo.png"
    path.write_bytes(png())
    path.chmod(0o600)
    session.define({"from_path": path, "from_text": str(path), "from_bytes": png()})
    code = "print(from_path.tobytes() == from_bytes.tobytes() == from_text.tobytes(), from_path.mode)"
    assert session.run(code).text == "True RGB\n"


def test_exif_turns_the_image(session: Session) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert (
        seen(session, encoded(Image.new("RGB", (40, 20)), "JPEG", exif=exif), "picture.size")
        == "RGB (20, 40)"
    )


def test_deep_grey_is_scaled_instead_of_clipped(session: Session) -> None:
    image = Image.new("I;16", (2, 1))
    image.putpixel((0, 0), 32896)
    image.putpixel((1, 0), 65535)
    where = "picture.getpixel((0, 0)), picture.getpixel((1, 0))"
    assert seen(session, encoded(image), where) == "RGB (128, 128, 128) (255, 255, 255)"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparency_becomes_white(session: Session, mode: str) -> None:
    image = Image.new("RGBA", (2, 2), (0, 0, 0, 0)).convert(mode)
    options: dict[str, Any] = {"transparency": 0} if mode == "P" else {}
    assert seen(session, encoded(image, **options), "picture.getpixel((1, 1))") == "RGB (255, 255, 255)"


@pytest.mark.parametrize("mode", ["1", "L", "CMYK"])
def test_other_modes_become_rgb(session: Session, mode: str) -> None:
    data = encoded(Image.new(mode, (3, 2)), "TIFF")
    assert seen(session, data, "picture.size") == "RGB (3, 2)"


def test_the_first_frame_of_an_animation_counts(session: Session) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert seen(session, data, "picture.getpixel((0, 0))[0] > 200") == "RGB True"


def test_one_pixel_is_an_image(session: Session) -> None:
    assert seen(session, png((1, 1)), "picture.size") == "RGB (1, 1)"


def test_a_hundred_megapixels_fit(session: Session) -> None:
    data = encoded(Image.new("RGBA", (10_000, 10_000)), compress_level=1)  # the costliest of the usual modes
    assert seen(session, data, "picture.size") == "RGB (10000, 10000)"
    session.run("del picture")


def define_bomb(session: Session) -> None:
    """An image of a few bytes that says it has 60,000 x 60,000 pixels; an ImageError."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    small = png()
    bomb = small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:]
    with pytest.raises(ImageError, match="bomb"):
        session.define({"bomb": bomb})


def test_a_bomb_is_an_error(session: Session) -> None:
    define_bomb(session)
    assert session.run("print('bomb' in globals())").text == "False\n"


def test_a_bomb_leaves_the_other_images(session: Session) -> None:
    define_bomb(session)
    assert session.run("print(image_clue_0.size)").text == "(40, 30)\n"


@pytest.mark.parametrize("data", [b"", b"no image at all", png((200, 200), "blue")[:60]])
def test_what_cannot_be_decoded_is_named(session: Session, data: bytes) -> None:
    with pytest.raises(ImageError, match="image_clue_7"):
        session.define({"image_clue_7": data})


def test_one_bad_image_leaves_the_others_of_the_call_undefined(session: Session) -> None:
    with pytest.raises(ImageError, match="bad"):
        session.define({"fine": png(), "bad": b"nothing"})
    error = session.run("fine").error
    assert error is not None
    assert error.name == "NameError"


@pytest.mark.parametrize(
    "source", ["/nowhere/to/be/found.png", "https://example.org/a.png", "/usr", "/dev/zero"]
)
def test_what_is_no_file_is_named(session: Session, source: str) -> None:
    with pytest.raises(ImageError, match=source):
        session.define({"image_clue_9": source})


@pytest.mark.parametrize("name", ["two words", "", "1st", "__builtins__", "a.b", "x=1;y", "class"])
def test_a_name_must_be_a_plain_identifier(session: Session, name: str) -> None:
    with pytest.raises(ImageError, match="cannot name an image"):
        session.define({name: png()})


def test_a_bad_image_at_opening_leaves_no_session(sandbox: Sandbox) -> None:
    with pytest.raises(ImageError, match="image_clue_0"):
        sandbox.open({"image_clue_0": b"nothing"})


def test_cells_cannot_change_the_files(session: Session) -> None:
    code = "import os; d = '/opt/room/images'; open(os.path.join(d, os.listdir(d)[0]), 'wb')"
    error = session.run(code).error
    assert error is not None
    assert error.name in {"OSError", "PermissionError"}


def test_threads_of_a_cell_may_be_the_first_to_use_an_image(session: Session) -> None:
    sink = io.BytesIO()
    Image.effect_noise((800, 600), 50).convert("RGB").save(sink, "JPEG")
    session.define({"shared": sink.getvalue()})
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    sums = list(pool.map(lambda i: hash(shared.crop((i, 0, 700, 600)).tobytes()), [0] * 8))\n"
        "print(len(set(sums)))"
    )
    assert session.run(code).text == "1\n"


def file_names(session: Session, marker: str = "") -> list[str]:
    return session.run(f"for f in sorted(os.listdir()):\n    if {marker!r} in f: print(f)").text.split()


@pytest.mark.parametrize("file_format", ["PNG", "JPEG"])
def test_an_image_is_a_file_in_the_working_folder_under_both_endings(
    sandbox: Sandbox, file_format: str
) -> None:
    with sandbox.open({"image_clue_0": encoded(Image.new("RGB", (4, 4)), file_format)}) as session:
        assert file_names(session) == ["image_0.jpg", "image_0.png", "image_clue_0.jpg", "image_clue_0.png"]


@pytest.mark.parametrize(
    "code",
    [
        "Image.open('image_clue_3.png').size",
        "plt.imread('image_3.png').shape[1::-1]",
        "plt.imread('image_3.jpg').shape[1::-1]",
    ],
)
@pytest.mark.parametrize("file_format", ["PNG", "JPEG"])
def test_a_file_is_read_by_what_it_holds(session: Session, code: str, file_format: str) -> None:
    session.define({"image_clue_3": encoded(Image.new("RGB", (40, 30)), file_format)})
    assert session.run(code).text == "(40, 30)\n"


def test_a_file_holds_the_bytes_that_were_given(session: Session) -> None:
    data = encoded(Image.new("RGB", (3, 3)), "WEBP")
    session.define({"image_clue_4": data})
    assert session.run("open('image_4.png', 'rb').read()").text == f"{data!r}\n"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("lake.jpg", "lake.jpg"),
        ("My photo (1).png", "My_photo__1_.png"),
        ("/a/../b/x.png", "x.png"),
        ("..", None),
        (".bashrc.png", "bashrc.png"),
        ("é\udce9\n.png", "é__.png"),
        ("n" * 300 + ".png", "n" * 96 + ".png"),
        ("image_clue_7.png", None),
        ("image_7.png", None),
    ],
)
def test_a_file_has_its_own_name_too(sandbox: Sandbox, given: str, found: str | None) -> None:
    with sandbox.open({"picture": ImageData(png(), given)}) as session:
        assert file_names(session) == sorted(["picture.jpg", "picture.png", *([found] if found else [])])


def test_a_path_gives_its_own_name(session: Session, tmp_path: Path) -> None:
    (tmp_path / "own name.png").write_bytes(png())
    session.define({"some": tmp_path / "own name.png"})
    assert file_names(session, "own") == ["own_name.png"]


def test_a_name_that_is_defined_again_leads_to_the_new_file(session: Session) -> None:
    for width in (5, 6):
        session.define({"image_clue_5": png((width, 3))})
    assert session.run("Image.open('image_5.png').size").text == "(6, 3)\n"


def test_a_file_of_a_cell_is_not_replaced(session: Session) -> None:
    session.run("open('image_6.png', 'w').write('mine')")
    session.define({"image_clue_6": png()})
    assert session.run("open('image_6.png').read()").text == "'mine'\n"


def test_files_survive_the_end_of_a_kernel(sandbox: Sandbox) -> None:
    with sandbox.open({"image_clue_0": ImageData(png(), "lake.png")}) as session:
        session.run("os._exit(1)")
        assert file_names(session, ".png") == ["image_0.png", "image_clue_0.png", "lake.png"]


def test_a_file_cannot_be_changed(session: Session) -> None:
    session.define({"image_clue_8": png()})
    error = session.run("image_clue_8.save('image_8.png')").error
    assert error is not None
    assert "'image_8.png' is a file of the user, which cannot be changed" in error.traceback


def test_a_deleted_working_folder_loses_no_image(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        session.run("os.chdir('/tmp'); os.rmdir('/tmp/work')")
        session.define({"image_clue_0": png()})
        assert session.run("image_clue_0.size").text == "(40, 30)\n"


def test_files_are_found_without_isolation_too() -> None:
    with (
        pytest.warns(UserWarning, match="without isolation"),
        Sandbox(Policy(isolation="none")) as sandbox,
        sandbox.open({"image_clue_0": png()}) as session,
    ):
        assert session.run("Image.open('image_0.png').size").text == "(40, 30)\n"
