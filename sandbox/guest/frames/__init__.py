"""Where an image lies in its original, and helpers that look closer; also works in an ordinary notebook."""

from .helpers import from_shown, grid, mark, to_original, was_just_shown, zoom
from .regions import figure_regions, image_regions
from .registry import define, start_cell
from .tracking import install

__all__ = [
    "define",
    "figure_regions",
    "from_shown",
    "grid",
    "image_regions",
    "install",
    "mark",
    "start_cell",
    "to_original",
    "was_just_shown",
    "zoom",
]
