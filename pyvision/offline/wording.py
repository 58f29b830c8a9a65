"""The words of questions: a plain form of the text, colours, shapes, and which image is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass

SHAPES = {
    "circle": "circle", "ring": "circle", "disc": "circle", "disk": "circle",
    "triangle": "triangle", "square": "square", "rectangle": "rectangle", "pentagon": "pentagon",
    "hexagon": "hexagon", "heptagon": "heptagon", "star": "star", "ellipse": "ellipse", "oval": "ellipse",
    "diamond": "diamond", "rhombus": "diamond",
}  # fmt: skip
COLOURS = {
    "red": "red", "orange": "orange", "yellow": "yellow", "green": "green", "cyan": "cyan",
    "turquoise": "cyan", "teal": "cyan", "blue": "blue", "purple": "purple", "violet": "purple",
    "magenta": "magenta", "fuchsia": "magenta", "pink": "pink", "brown": "brown", "beige": "beige",
    "olive": "olive", "black": "black", "white": "white", "grey": "grey", "gray": "grey",
}  # fmt: skip
COLOUR = "(?:" + "|".join(COLOURS) + ")"
SHAPE = "(?:" + "|".join(SHAPES) + ")(?:es|s)?"

_PICTURE = (
    r"(?:image|picture|photo|photograph|drawing|figure|diagram|screenshot|illustration|graphic|scene|canvas)"
)
_ORDINALS = {
    "first": 0, "1st": 0, "left": 0, "second": 1, "2nd": 1, "right": 1, "third": 2, "3rd": 2, "fourth": 3,
}  # fmt: skip
_PICK = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ORDINALS)}) {_PICTURE}"
    rf"|{_PICTURE} ?(?:#|no\.? ?)?(?P<number>\d)|image_clue_(?P<tag>\d+))\b"
)
_SPELLINGS = (
    (r"\s+", " "),
    ("\u2019", "'"),
    (r"\bcolor", "colour"),
    (r"\bwhat's\b", "what is"),
    (
        r"\b(?:(?:the|this|these|those|both of|both) )+(?:(?:given|attached|following|whole|entire|above) )?",
        "",
    ),
    (r"^(?:(?:please|hi|hello|hey|so|ok|okay|can you tell me|could you tell me|tell me)[ ,:]+)+", ""),
)
_FORM = re.compile(
    r"(?<=[.?!:;,)] )(?:please )?(?:answer|reply|respond|give|return|output|write|use|express)\b.*$"
)
_LEAD = re.compile(r"^(?:in|on|looking at|given|for|from) image,? ")
_TAIL = re.compile(
    r"(?: (?:are|is|do|can)| (?:there|visible|shown|drawn|present|depicted|displayed|you see|we see)"
    r"| (?:in|on|of|within|inside|from) image| in total| altogether| here)+$"
)
_COUNTED = re.compile(
    r"(?:how many|count(?: up)?|(?:what is |find |give |determine |report )?(?:total |exact )?number of)"
    r"(?: all)?(?: number of)? (?P<what>.+)"
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as it was put, its plain form without how to answer, and the image that it means."""

    text: str
    plain: str
    images: int
    image: int | None  # None: there are several and the text names none of them

    @property
    def counted(self) -> str:
        """What is to be counted, in plain form; empty when this is no question for a number."""
        found = _COUNTED.fullmatch(self.plain)
        return _TAIL.sub("", found["what"]).strip() if found else ""


def read_question(text: str, images: int) -> ParsedQuestion:
    """The plain form: lower case, no articles but `a`, `image` for every picture, nothing polite."""
    plain = text.lower().strip()
    for pattern, word in _SPELLINGS:
        plain = re.sub(pattern, word, plain)
    image = _image_meant(_PICK.search(plain), images)
    plain = re.sub(rf"\b{_PICTURE}(s?)\b", r"image\1", _PICK.sub("image", plain))
    plain = _LEAD.sub("", _FORM.sub("", plain).strip())
    return ParsedQuestion(text, plain.rstrip(" .?!:;,"), images, image)


def _image_meant(pick: re.Match[str] | None, images: int) -> int | None:
    if pick is None:
        return 0 if images == 1 else None
    ordinal, number, tag = pick.group("ordinal", "number", "tag")
    index = _ORDINALS[ordinal] if ordinal else int(number) - 1 if number else int(tag)
    return index if 0 <= index < images else None


def match_wording(plain: str, *wordings: str) -> re.Match[str] | None:
    """The match of the first wording that the whole text fits."""
    return next((found for wording in wordings if (found := re.fullmatch(wording, plain))), None)


def kind_of(plain: str, wordings: dict[str, tuple[str, ...]]) -> str | None:
    """The first kind of question that has a wording which the whole text fits."""
    return next((kind for kind, forms in wordings.items() if match_wording(plain, *forms)), None)


def shape_of(word: str) -> str | None:
    """The shape that a singular or plural noun names, or None."""
    return SHAPES.get(word) or SHAPES.get(word.removesuffix("s")) or SHAPES.get(word.removesuffix("es"))
