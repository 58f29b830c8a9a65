"""The size of an image: width, height, aspect ratio, orientation, megapixels."""

from __future__ import annotations

import re
from math import gcd

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import ParsedQuestion, kind_of

_OF = r"(?: (?:of|for) image)?(?: in pixels)?"
_SHAPE = r"(?:landscape|portrait|square)"
_WORDINGS = {
    "width": (
        rf"(?:what is )?(?:pixel |image )?width{_OF}",
        r"how (?:many pixels )?wide is image(?: in pixels)?",
    ),
    "height": (
        rf"(?:what is )?(?:pixel |image )?height{_OF}",
        r"how (?:many pixels )?(?:high|tall) is image(?: in pixels)?",
    ),
    "ratio": (
        rf"(?:what is )?(?:image )?aspect ratio{_OF}",
        r"what aspect ratio (?:does|has) image(?: have)?",
    ),
    "way": (
        rf"is image (?:in )?(?:a )?{_SHAPE}(?:,? or (?:a )?{_SHAPE})*(?: format| orientation| mode)?",
        rf"(?:what is )?(?:image )?orientation{_OF}",
    ),
    "pixels": (
        r"how many (?:mega)?pixels (?:does image have|are in image|are there in image)",
        rf"(?:what is )?(?:total )?number of pixels{_OF}",
    ),
    "size": (
        r"(?:what (?:is|are) )?(?:pixel |image )?"
        rf"(?:size|dimensions?|resolution|width and height|height and width){_OF}",
        r"how (?:big|large) is image(?: in pixels)?",
        r"what (?:size|resolution|dimensions?) (?:is|are|does|has) image(?: have)?",
    ),
}


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions about the measures of the image file itself."""
    kind = kind_of(asked.plain, _WORDINGS)
    if kind is None or asked.image is None:
        return None
    thought = "The size is a property of the image itself; I read it in the kernel."
    cell = Cell(thought, "size", (), (asked.image,))
    return Plan((cell,), lambda finding: _conclude(finding, kind, asked.plain))


def _conclude(finding: Finding, kind: str, plain: str) -> Found | None:
    width, height = finding.whole("width"), finding.whole("height")
    if not width or not height:
        return None
    step = gcd(width, height)
    way = "square" if width == height else "landscape" if width > height else "portrait"
    pixels = f"{width * height / 1e6:.2f}" if "megapixel" in plain else str(width * height)
    answers = {
        "width": str(width),
        "height": str(height),
        "ratio": f"{width // step}:{height // step}",
        "pixels": pixels,
    }
    asked_way = re.fullmatch(
        r"is .*? (?:a )?(landscape|portrait|square)(?: format| orientation| mode)?", plain
    )
    if kind == "way":
        answers["way"] = way if not asked_way or " or " in plain else "Yes" if asked_way[1] == way else "No"
    return Found(f"The image measures {width} x {height} pixels.", answers.get(kind, f"{width} x {height}"))
