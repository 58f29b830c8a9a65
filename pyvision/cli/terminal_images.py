"""Draw an image in a terminal that can: by the protocol of kitty or of iTerm2, or as sixels.

Variables name kitty, Ghostty, iTerm2, WezTerm and VS Code. Other terminals (xterm, foot, mlterm, Windows Terminal, …)
are asked whether they draw sixels. PYVISION_IMAGES chooses `kitty`, `iterm`, `sixel` or `none` in place of all this.
Not covered: kitty's and iTerm2's protocols inside tmux or screen, which do not pass them on; tmux with sixels is asked.
"""

from __future__ import annotations

import os
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from pyvision.types import Picture

Drawing: TypeAlias = Literal["kitty", "iterm", "sixel"]
_CHUNK_CHARS = 4096  # the most that kitty takes at once
_SIDE_PX = 640
_COLOURS = 128  # of sixels
_BAND_PX = 6
_REPEATED = re.compile(r"(.)\1{3,}")
_ASK = b"\x1b[c"
_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]{1,100})c")  # the first number is the kind of terminal
_PROGRAMS: Mapping[str, Drawing] = {
    "ghostty": "kitty",
    "iTerm.app": "iterm",
    "WezTerm": "iterm",
    "vscode": "iterm",
}


def draws_sixels() -> bool:
    """Ask the terminal, which answers at once or is waited for 0.3 s. False also if something was typed: it stays."""
    import select
    import termios
    import tty

    if not sys.stderr.isatty():
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return False  # in the background, the change below would stop this process
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSANOW)  # without an echo, and without waiting for Enter
            if select.select([terminal], [], [], 0)[0]:
                return False
            os.write(terminal, _ASK)
            return _says_sixel(_read_answer(terminal))
        finally:
            termios.tcsetattr(terminal, termios.TCSANOW, before)
    except (OSError, termios.error):
        return False
    finally:
        os.close(terminal)


def find_drawing(
    environ: Mapping[str, str] = os.environ, draws_sixels: Callable[[], bool] = draws_sixels
) -> Drawing | None:
    """How the terminal takes images, or None if it cannot. draws_sixels: asks a terminal that is not named."""
    match environ.get("PYVISION_IMAGES"):
        case "kitty" | "iterm" | "sixel" as chosen:
            return chosen
        case "none":
            return None
    if not (environ.get("TMUX") or environ.get("TERM", "").startswith(("screen", "tmux"))):
        if environ.get("KITTY_WINDOW_ID") or environ.get("TERM") == "xterm-kitty":
            return "kitty"
        if named := _PROGRAMS.get(environ.get("TERM_PROGRAM", "")):
            return named
    return "sixel" if environ.get("TERM", "dumb") != "dumb" and draws_sixels() else None


def draw(picture: Picture, drawing: Drawing) -> str:
    """The characters that draw the image, at most 640 pixels wide and high, then a new line. Raises ImageError."""
    from pyvision.images.fit import FitLimits, fit

    small = fit(picture, FitLimits(side_px=_SIDE_PX, least_px=1, aspect=1000, file_bytes=2**24)).picture
    match drawing:
        case "kitty":
            return _kitty(small)
        case "iterm":
            data = b64encode(small.data).decode()
            return f"\x1b]1337;File=inline=1;size={len(small.data)};preserveAspectRatio=1:{data}\x07\n"
        case "sixel":
            return _sixel(small)


def _kitty(picture: Picture) -> str:
    if picture.mime != "image/png":  # the only file format of kitty
        return ""
    data = b64encode(picture.data).decode()
    chunks = [data[at : at + _CHUNK_CHARS] for at in range(0, len(data), _CHUNK_CHARS)]
    first = "a=T,f=100,q=2,"
    parts = [
        f"\x1b_G{'' if at else first}m={int(at < len(chunks) - 1)};{chunk}\x1b\\"
        for at, chunk in enumerate(chunks)
    ]
    return "".join(parts) + "\n"


def _sixel(picture: Picture) -> str:
    """DEC sixels: a palette in percent, then bands of six rows, in each the pixels of one colour after the other."""
    import numpy

    from pyvision.images.pixels import open_image

    image = open_image(picture).convert("RGB").quantize(_COLOURS)
    palette = numpy.array(image.getpalette(), dtype=int).reshape(-1, 3) * 100 // 255
    colours = "".join(f"#{at};2;{red};{green};{blue}" for at, (red, green, blue) in enumerate(palette))
    pixels = numpy.asarray(image)
    bands = (pixels[top : top + _BAND_PX] for top in range(0, image.height, _BAND_PX))
    data = "-".join("$".join(_colours_of(band)) for band in bands)
    return f'\x1bP0;1q"1;1;{image.width};{image.height}{colours}{data}\x1b\\\n'


def _colours_of(band: Any) -> Iterator[str]:
    """For each colour of the band, one character per column: bit n is set where row n has this colour."""
    import numpy

    columns = numpy.full((_COLOURS, band.shape[1]), ord("?"), dtype=numpy.uint8)
    for bit, row in enumerate(band):
        columns[row, numpy.arange(len(row))] += 1 << bit
    for colour in numpy.unique(band):
        text = columns[colour].tobytes().decode().rstrip("?")
        yield f"#{colour}" + _REPEATED.sub(lambda run: f"!{len(run[0])}{run[1]}", text)


def _read_answer(terminal: int) -> bytes:
    """What the terminal says of itself (primary device attributes), as far as it comes in time."""
    import select

    answer = b""
    while len(answer) < 200 and not answer.endswith(b"c") and select.select([terminal], [], [], 0.3)[0]:
        answer += os.read(terminal, 100)
    return answer


def _says_sixel(answer: bytes) -> bool:
    found = _ATTRIBUTES.search(answer)
    return found is not None and b"4" in found[1].split(b";")[1:]
