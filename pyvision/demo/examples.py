"""Questions to begin with, where the pictures for them are at hand: in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyvision.demo.page import Example

_PICTURES = Path(__file__).parent.parent.parent / "examples"
_QUESTIONS = (
    ("How many circles are in the image?", ("circles.png",)),
    ("How many rows and columns does the table have?", ("table.png",)),
    ("What are the differences between the two images?", ("shapes.png", "shapes_changed.png")),
)


def examples() -> tuple[Example, ...]:
    """Those whose pictures are there."""
    from pyvision.demo.page import Example

    found = (Example(text, tuple(_PICTURES / name for name in names)) for text, names in _QUESTIONS)
    return tuple(example for example in found if all(file.is_file() for file in example.files))
