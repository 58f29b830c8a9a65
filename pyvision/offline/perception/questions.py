"""Answer simple questions about an image by rules: how many, which colour, which shape, is there, how large, where.

Other questions, and those with nouns other than colours and simple shapes, are declined: ToolError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyvision.errors import ToolError
from pyvision.offline.perception.scene import SceneArea, SceneDescription, Wanted, parse_wanted, scene_of
from pyvision.offline.wording import read_question
from pyvision.types import Picture

_IT = r"(?:this|it|that|image|object|thing|image of|here|(?:a |an )?(?:object|thing|shape|item)s?(?: in image)?)"
_PLACES = {  # where in a photograph these usually are; nothing is recognized
    "sky": (0.0, 0.2), "clouds": (0.0, 0.2), "ground": (0.8, 1.0), "floor": (0.8, 1.0), "water": (0.8, 1.0),
    "lake": (0.8, 1.0), "sea": (0.8, 1.0), "grass": (0.8, 1.0), "road": (0.8, 1.0), "field": (0.8, 1.0),
}  # fmt: skip
_TEXT = re.compile(
    r"(?:(?:what|which) (?:text|words?|letters?|numbers?|digits?)\b.*\b(?:written|shown|printed|says?|read)\b.*"
    r"|what is written.*|what does .+ (?:say|read).*|read (?:text|words?|sign).*)"
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A wording, and the function that answers questions of it, or gives None if it cannot."""

    wording: re.Pattern[str]
    answer: Callable[[re.Match[str], Picture], str | None]


def answer(question: str, picture: Picture) -> str:
    """A word, a number or a name. Raises ToolError if the rules do not cover the question."""
    plain = _plain(question)
    for form in _FORMS:
        if (found := form.wording.fullmatch(plain)) and (text := form.answer(found, picture)) is not None:
            return text
    raise ToolError(
        f"vqa: the offline rules cannot answer {question.strip()!r:.200}: they know colours, simple shapes, numbers, "
        f"sizes, places and capital letters; choose another provider: --tool vqa=model"
    )


def asks_for_text(question: str) -> bool:
    """Whether it asks what is written in the image."""
    return _TEXT.fullmatch(_plain(question)) is not None


def place_of(region: SceneArea, picture: Picture) -> str:
    """One of nine places, such as `upper left`; the middle one is `center`."""
    column = int(3 * (region.left + region.right) / 2 / picture.width)
    row = int(3 * (region.top + region.bottom) / 2 / picture.height)
    across, down = ("left", "center", "right")[min(2, column)], ("upper", "", "lower")[min(2, row)]
    return f"{down} {across}".strip()


def _plain(question: str) -> str:
    plain = read_question(question, 1).plain
    return re.sub(r"\b(?:colour is)(?= (?:are|is)\b)", "colour", plain).removesuffix(" in image").strip()


def _count(found: re.Match[str], picture: Picture) -> str | None:
    wanted = _parse_description(found["what"])
    return None if wanted is None else str(len(_find_countable(wanted, picture)))


def _exists(found: re.Match[str], picture: Picture) -> str | None:
    """Whether there is at least one of them."""
    wanted = _parse_description(found["what"])
    if wanted is None:
        return None
    scene = scene_of(picture)
    if wanted.shape is None and wanted.colour is not None:
        return _yes(scene.shares.get(wanted.colour, 0) > 0.005 or bool(wanted.among(scene.regions)))
    return _yes(bool(wanted.among(_require_drawing(picture).regions) or _find_countable(wanted, picture)))


def _is_so(found: re.Match[str], picture: Picture) -> str | None:
    """Is the X Y: whether the largest X has the colour and shape Y."""
    claim = parse_wanted(found["claim"])
    if claim.unknown or not (claim.colour or claim.shape):
        return None
    region = _find_largest(found["what"], picture)
    if region is not None:
        return _yes(bool(claim.among([region])))
    colour = _colour_of(found["what"], picture)
    return None if colour is None or claim.shape else _yes(colour == claim.colour)


def _colour(found: re.Match[str], picture: Picture) -> str | None:
    return _colour_of(found["what"], picture)


def _colour_of(what: str, picture: Picture) -> str | None:
    scene, noun = scene_of(picture), what.strip()
    if noun == "background":
        return scene.background
    if not scene.is_drawing and (span := _PLACES.get(noun.removeprefix("a "))):
        return _colour_between(picture, *span)
    region = _find_largest(noun, picture)
    if region is not None:
        return region.colour
    return next(iter(scene.shares)) if re.fullmatch(_IT, noun) else None


def _colour_between(picture: Picture, top: float, bottom: float) -> str:
    from pyvision.images.pixels import crop

    band = crop(picture, (0, top * picture.height, picture.width, bottom * picture.height))
    return next(iter(scene_of(band).shares))


def _shape(found: re.Match[str], picture: Picture) -> str | None:
    region = _find_largest(found["what"] or "it", picture)
    return None if region is None or region.shape in ("region", "other") else region.shape


def _name(found: re.Match[str], picture: Picture) -> str | None:
    region = _find_largest("it", picture)
    return None if region is None or region.shape == "region" else region.name


def _size(found: re.Match[str], picture: Picture) -> str | None:
    """Width x height in pixels, of the image or of the largest object that fits."""
    what = found["what"].strip()
    if re.fullmatch(r"image|it|this", what):
        return f"{picture.width} x {picture.height}"
    region = _find_largest(what, picture)
    return None if region is None else f"{region.right - region.left:.0f} x {region.bottom - region.top:.0f}"


def _where(found: re.Match[str], picture: Picture) -> str | None:
    region = _find_largest(found["what"], picture)
    return None if region is None else place_of(region, picture)


def _find_largest(what: str, picture: Picture) -> SceneArea | None:
    """The largest object that fits the description, or the largest of all for `it`; None if there is none."""
    wanted = Wanted() if re.fullmatch(_IT, what.strip()) else _parse_description(what)
    regions = wanted.among(scene_of(picture).regions) if wanted is not None else ()
    return max(regions, key=lambda region: region.area, default=None)


def _parse_description(what: str) -> Wanted | None:
    wanted = parse_wanted(what)
    return wanted if wanted.is_understood else None


def _require_drawing(picture: Picture) -> SceneDescription:
    """The objects of a drawing. Raises ToolError for a photograph: rules cannot tell its objects apart."""
    scene = scene_of(picture)
    if not scene.is_drawing:
        raise ToolError(
            "vqa: this is not a simple drawing, and the offline rules cannot tell objects in a photograph apart; "
            "choose another provider: --tool vqa=model"
        )
    return scene


def _find_countable(wanted: Wanted, picture: Picture) -> tuple[SceneArea, ...]:
    """All that is wanted. Raises ToolError if some of it may have been missed."""
    scene = _require_drawing(picture)
    if why := scene.doubts_about(wanted):
        raise ToolError(
            f"vqa: the offline rules cannot count here: {why}; choose another provider: --tool vqa=model"
        )
    return wanted.among(scene.regions)


def _yes(so: bool) -> str:  # noqa: FBT001 - a word for it
    return "yes" if so else "no"


def _form(wording: str, answer_by: Callable[[re.Match[str], Picture], str | None]) -> _Form:
    return _Form(re.compile(wording), answer_by)


_FORMS = (
    _form(r"(?:how many|count|(?:what is )?number of) (?P<what>.+?)(?: (?:are|is) (?:there|visible|shown))?", _count),
    _form(r"(?:what|which) colour (?:is|are|has|does) (?P<what>.+?)(?: have)?", _colour),
    _form(r"what is (?:main|dominant|most common|commonest) colour.*", lambda _, p: next(iter(scene_of(p).shares))),
    _form(r"what is colour(?: of (?P<what>.+))?", lambda f, p: _colour_of(f["what"] or "it", p)),
    _form(r"what (?:shape|form) (?:is|does|has) (?P<what>.+?)(?: have)?", _shape),
    _form(r"what is (?:shape|form) of (?P<what>.+)", _shape),
    _form(r"(?:(?:is|are) there|(?:do|can) you see|does (?:image|it) (?:show|contain|have)) (?P<what>.+)", _exists),
    _form(r"(?:is|are) (?:(?:it|that|image|object) )?(?P<what>(?:a |an ).+)", _exists),
    _form(r"(?:is|are) (?P<what>.+) (?P<claim>[a-z]+(?: [a-z]+)?)", _is_so),
    _form(r"(?:is|are) (?P<claim>[a-z]+)(?P<what>)", lambda f, p: _yes(f["claim"] == _colour_of("it", p))),
    _form(r"(?:what is size of|how (?:large|big) is) (?P<what>.+)", _size),
    _form(r"where (?:is|are) (?P<what>.+)", _where),
    _form(r"what is (?:(?:this|it|that|shown|here|image|object)(?: object)?)(?: .*)?", _name),
)  # fmt: skip
