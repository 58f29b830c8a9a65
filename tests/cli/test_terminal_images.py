"""Images in terminals: which protocol, and what is written."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import sys
from base64 import b64decode

import numpy
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pyvision.cli.terminal_images import draw, find_drawing
from pyvision.types import Picture
from tests.doubles import picture

ASKED = b"\x1b[c"  # primary device attributes
ASK = "from pyvision.cli.terminal_images import draws_sixels; print('sixels:', draws_sixels(), flush=True); input()"


def test_a_terminal_that_says_so_draws_sixels() -> None:
    assert "sixels: True" in in_terminal(ASK, {ASKED: b"\x1b[?62;4;22c"})


@pytest.mark.parametrize("answer", [b"\x1b[?4c", b"\x1b[?62;14;22c", b"", b"\x1b[?" + b"4;" * 40 + b"x"])
def test_a_terminal_without_sixels_gets_no_image(answer: bytes) -> None:
    assert "sixels: False" in in_terminal(ASK, {ASKED: answer})


@pytest.mark.parametrize("typed", [b"hello\n", b"hello"])
def test_what_was_typed_before_is_not_lost(typed: bytes) -> None:
    code = f"{ASK.removesuffix('input()')} print('typed: ' + input(), flush=True)"
    assert "typed: hello" in in_terminal(code, {b"sixels:": b"\n"}, until="typed:", typed=typed)


def test_the_answer_of_the_terminal_is_not_seen() -> None:
    assert "62;4" not in in_terminal(ASK, {ASKED: b"\x1b[?62;4c"})


def in_terminal(code: str, answers: dict[bytes, bytes], until: str = "sixels:", typed: bytes = b"") -> str:
    """What a program prints in a terminal that answers so, up to the end of a line that begins with `until`.

    typed: what is typed before the program begins.
    """
    begin, allow = os.pipe()
    os.set_inheritable(begin, True)
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-c", f"import os; os.read({begin}, 1); {code}"])
    os.close(begin)
    seen = b""
    try:
        os.write(terminal, typed)
        os.write(allow, b"!")
        while not re.search(until.encode() + rb".*\r\n", seen):
            assert select.select([terminal], [], [], 60)[0], seen
            seen += os.read(terminal, 1000)
            for question in [question for question in answers if question in seen]:
                os.write(terminal, answers.pop(question))
        os.write(terminal, b"\n")
    finally:
        os.close(allow)
        os.waitpid(process, 0)
        os.close(terminal)
    return seen.decode()


@pytest.mark.parametrize(
    ("variables", "drawing"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM_PROGRAM": "ghostty", "TMUX": "1"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "xterm-256color", "PYVISION_IMAGES": "sixel"}, "sixel"),
        ({"TERM": "xterm-kitty", "PYVISION_IMAGES": "none"}, None),
    ],
)
def test_images_are_drawn_where_the_terminal_can(variables: dict[str, str], drawing: str | None) -> None:
    assert find_drawing(variables, lambda: False) == drawing


@pytest.mark.parametrize(
    ("variables", "drawing"),
    [
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "tmux-256color", "TMUX": "1"}, "sixel"),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "dumb"}, None),
        ({}, None),
        ({"TERM": "foot", "PYVISION_IMAGES": "none"}, None),
    ],
)
def test_sixels_are_for_terminals_that_draw_them(variables: dict[str, str], drawing: str | None) -> None:
    assert find_drawing(variables, lambda: True) == drawing


def test_kitty_gets_a_png_in_small_pieces() -> None:
    noise = Picture(noisy_png(), "image/png", 300, 300)
    pieces = draw(noise, "kitty").rstrip("\n").split("\x1b\\")[:-1]
    assert pieces[0].startswith("\x1b_Ga=T,f=100,q=2,m=1;")
    assert pieces[-1].startswith("\x1b_Gm=0;")
    data = "".join(piece.partition(";")[2] for piece in pieces)
    assert (max(map(len, pieces)) < 4200, b64decode(data)) == (True, noise.data)


def test_iterm_gets_the_file_at_once() -> None:
    assert draw(picture(), "iterm").startswith("\x1b]1337;File=inline=1;size=")


@pytest.mark.parametrize("side", [(40, 30), (7, 1), (1, 13), (33, 24)])
def test_sixels_draw_the_image(side: tuple[int, int]) -> None:
    page = Image.new("RGB", side, "white")
    ImageDraw.Draw(page).ellipse((side[0] // 4, 0, side[0] // 2, side[1] // 2 + 3), fill=(204, 0, 51))
    assert numpy.abs(decoded(draw(as_picture(page), "sixel")) - numpy.asarray(page, int)).max() <= 3


def test_sixels_of_a_photograph_are_close_to_it() -> None:
    x, y = numpy.meshgrid(numpy.arange(90), numpy.arange(61))
    page = numpy.stack([x * 2, y * 3, (x + y) % 256], axis=-1).astype("uint8")
    difference = numpy.abs(decoded(draw(as_picture(Image.fromarray(page)), "sixel")) - page.astype(int))
    assert difference.mean() < 6


def decoded(text: str) -> NDArray[numpy.int_]:
    """The pixels of sixels, drawn as a terminal does. Pixels that nothing draws are -1000."""
    parsed = re.fullmatch(r'\x1bP0;1q"1;1;(\d+);(\d+)(.*)\x1b\\\n', text, re.DOTALL)
    assert parsed is not None
    pixels = numpy.full((int(parsed[2]), int(parsed[1]), 3), -1000)
    palette: dict[int, tuple[int, ...]] = {}
    x = y = colour = 0
    for number, definition, count, sixel, move in re.findall(
        r"#(\d+)((?:;\d+){4})?|(?:!(\d+))?([?-~])|([$-])", parsed[3]
    ):
        if number:
            colour = int(number)
            if definition:
                palette[colour] = tuple(int(each) * 255 // 100 for each in definition.split(";")[2:])
        elif sixel:
            for _ in range(int(count or 1)):
                for row in (row for row in range(6) if (ord(sixel) - 63) >> row & 1):
                    pixels[y + row, x] = palette[colour]
                x += 1
        else:
            x, y = 0, y + 6 * (move == "-")
    return pixels


def as_picture(page: Image.Image) -> Picture:
    file = io.BytesIO()
    page.save(file, "PNG")
    return Picture(file.getvalue(), "image/png", *page.size)


def noisy_png() -> bytes:
    return as_picture(
        Image.fromarray(numpy.random.default_rng(0).integers(0, 256, (300, 300, 3), "uint8"))
    ).data
