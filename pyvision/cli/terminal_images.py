"""Draw an image in a terminal that can: kitty's protocol (kitty, Ghostty), or iTerm2's (iTerm2, WezTerm, VS Code).

PYVISION_IMAGES chooses `kitty`, `iterm` or `none` in place of what the terminal's variables say.
Not covered: sixel, and terminals inside tmux or screen, which do not pass images on.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pyvision.types import Picture

Drawing: TypeAlias = Literal["kitty", "iterm"]
_CHUNK_CHARS = 4096  # the most that kitty takes at once
_SIDE_PX = 640
_PROGRAMS: Mapping[str, Drawing] = {
    "ghostty": "kitty",
    "iTerm.app": "iterm",
    "WezTerm": "iterm",
    "vscode": "iterm",
}


def find_drawing(environ: Mapping[str, str] = os.environ) -> Drawing | None:
    """How the terminal takes images, or None if it does not say that it can."""
    match environ.get("PYVISION_IMAGES"):
        case "kitty" | "iterm" as chosen:
            return chosen
        case "none":
            return None
    if environ.get("TMUX") or environ.get("TERM", "").startswith(("screen", "tmux")):
        return None
    if environ.get("KITTY_WINDOW_ID") or environ.get("TERM") == "xterm-kitty":
        return "kitty"
    return _PROGRAMS.get(environ.get("TERM_PROGRAM", ""))


def draw(picture: Picture, drawing: Drawing) -> str:
    """The characters that draw the image, at most 640 pixels wide and high, then a new line. Raises ImageError."""
    from pyvision.images.fit import FitLimits, fit

    small = fit(picture, FitLimits(side_px=_SIDE_PX, least_px=1, aspect=1000, file_bytes=2**24)).picture
    data = b64encode(small.data).decode()
    if drawing == "iterm":
        return f"\x1b]1337;File=inline=1;size={len(small.data)};preserveAspectRatio=1:{data}\x07\n"
    if small.mime != "image/png":  # the only file format of kitty
        return ""
    chunks = [data[at : at + _CHUNK_CHARS] for at in range(0, len(data), _CHUNK_CHARS)]
    first = "a=T,f=100,q=2,"
    parts = [
        f"\x1b_G{'' if at else first}m={int(at < len(chunks) - 1)};{chunk}\x1b\\"
        for at, chunk in enumerate(chunks)
    ]
    return "".join(parts) + "\n"
