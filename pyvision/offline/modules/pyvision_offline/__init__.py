"""Measure simple drawings: count objects, follow lines, read tables, compare colours. Needs numpy, Pillow, matplotlib.

Each `find_…` function takes a Drawing and returns what it found, with all lengths in pixels of the picture, and its
doubts: a sentence that says why the result may be wrong, or an empty string.

    from pyvision_offline import Drawing, find_objects, report

    drawing = Drawing(image_clue_0)
    circles, doubts = find_objects(drawing, shape="circle")
    drawing.show(circles)
    report(doubts, count=len(circles))
"""

from .circles import Circle, find_discs, find_smallest_gap
from .colours import (
    find_background_colour,
    find_colour,
    find_colour_at,
    find_colour_near,
    find_colours,
    find_colours_of_objects,
    find_dominant_colour,
)
from .differences import ImageComparison, compare_images
from .drawing import Drawing, report
from .lines import Crossing, Path, find_crossings, find_paths
from .objects import DrawnObject, find_objects
from .outlines import Outline, find_outlines
from .tables import TableShape, find_aligned_cells, find_ruled_table
from .text import TextLine, find_text, look_around, read_line, read_text

__all__ = [
    "Circle",
    "Crossing",
    "Drawing",
    "DrawnObject",
    "ImageComparison",
    "Outline",
    "Path",
    "TableShape",
    "TextLine",
    "compare_images",
    "find_aligned_cells",
    "find_background_colour",
    "find_colour",
    "find_colour_at",
    "find_colour_near",
    "find_colours",
    "find_colours_of_objects",
    "find_crossings",
    "find_discs",
    "find_dominant_colour",
    "find_objects",
    "find_outlines",
    "find_paths",
    "find_ruled_table",
    "find_smallest_gap",
    "find_text",
    "look_around",
    "read_line",
    "read_text",
    "report",
]
