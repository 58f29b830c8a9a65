"""Answer simple questions about a picture by rules: how many, which colour, which shape, is there, how large, where.

A question of another kind, or one whose nouns are no colours and simple shapes, is declined: ToolError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyvision.errors import ToolError
from pyvision.offline.perception.rules import Region, Scene, scene_of
from pyvision.offline.perception.words import Wanted, parse_wanted
from pyvision.offline.wording import read_question
from pyvision.types import Picture

_IT = r"(?:this|it|that|image|object|thing|image of|here|(?:a |an )?(?:object|thing|shape|item)s?(?: in image)?)"
_PLACES = {  # what is commonly there in a photograph: a rule, not sight
    "sky": (0.0, 0.2), "clouds": (0.0, 0.2), "ground": (0.8, 1.0), "floor": (0.8, 1.0), "water": (0.8, 1.0),
    "lake": (0.8, 1.0), "sea": (0.8, 1.0), "grass": (0.8, 1.0), "road": (0.8, 1.0), "field": (0.8, 1.0),
}  # fmt: skip
_TEXT = re.compile(
    r"(?:(?:what|which) (?:text|words?|letters?|numbers?|digits?)\b.*\b(?:written|shown|printed|says?|read)\b.*"
    r"|what is written.*|what does .+ (?:say|read).*|read (?:text|words?|sign).*)"
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A wording of the plain form of questions, and who answers it; None: not by these rules."""

    wording: re.Pattern[str]
    answer: Callable[[re.Match[str], Picture], str | None]


def answer(question: str, picture: Picture) -> str:
    """A word, a number or a name. Raises ToolError where the rules do not reach."""
    plain = _plain(question)
    for form in _FORMS:
        if (found := form.wording.fullmatch(plain)) and (said := form.answer(found, picture)) is not None:
            return said
    raise ToolError(
        f"vqa: the embedded rules do not reach {question.strip()!r:.200}: they know colours, simple shapes, numbers, "
        f"sizes, places and capital letters; choose another provider: --tool vqa=model"
    )


def asks_for_text(question: str) -> bool:
    """Whether the question is what is written in the picture."""
    return _TEXT.fullmatch(_plain(question)) is not None


def place_of(region: Region, picture: Picture) -> str:
    """One of nine places, `upper left` say; the middle one is `center`."""
    column = int(3 * (region.left + region.right) / 2 / picture.width)
    row = int(3 * (region.top + region.bottom) / 2 / picture.height)
    across, down = ("left", "center", "right")[min(2, column)], ("upper", "", "lower")[min(2, row)]
    return f"{down} {across}".strip()


def _plain(question: str) -> str:
    plain = read_question(question, 1).plain
    return re.sub(r"\b(?:colour is)(?= (?:are|is)\b)", "colour", plain).removesuffix(" in image").strip()


def _count(found: re.Match[str], picture: Picture) -> str | None:
    wanted = _understood(found["what"])
    return None if wanted is None else str(len(wanted.among(_draw(picture).regions)))


def _exists(found: re.Match[str], picture: Picture) -> str | None:
    """Yes when one of them is there; with a second description, when one of them fits that as well."""
    wanted = _understood(found["what"])
    if wanted is None:
        return None
    scene = scene_of(picture)
    if wanted.shape is None and wanted.colour is not None:
        return _yes(scene.shares.get(wanted.colour, 0) > 0.005 or bool(wanted.among(scene.regions)))
    return _yes(bool(wanted.among(_draw(picture).regions)))


def _is_so(found: re.Match[str], picture: Picture) -> str | None:
    """Is the X Y: whether the largest X is of the colour and shape Y."""
    said = parse_wanted(found["said"])
    if said.unknown or not (said.colour or said.shape):
        return None
    region = _meant(found["what"], picture)
    if region is not None:
        return _yes(bool(said.among([region])))
    colour = _colour_of(found["what"], picture)
    return None if colour is None or said.shape else _yes(colour == said.colour)


def _colour(found: re.Match[str], picture: Picture) -> str | None:
    return _colour_of(found["what"], picture)


def _colour_of(what: str, picture: Picture) -> str | None:
    scene, words = scene_of(picture), what.strip()
    if words == "background":
        return scene.background
    if not scene.is_drawing and (span := _PLACES.get(words.removeprefix("a "))):
        return _colour_between(picture, *span)
    region = _meant(words, picture)
    if region is not None:
        return region.colour
    return next(iter(scene.shares)) if re.fullmatch(_IT, words) else None


def _colour_between(picture: Picture, top: float, bottom: float) -> str:
    from pyvision.images.pixels import crop

    band = crop(picture, (0, top * picture.height, picture.width, bottom * picture.height))
    return next(iter(scene_of(band).shares))


def _shape(found: re.Match[str], picture: Picture) -> str | None:
    region = _meant(found["what"] or "it", picture)
    return None if region is None or region.shape in ("region", "other") else region.shape


def _name(found: re.Match[str], picture: Picture) -> str | None:
    region = _meant("it", picture)
    return None if region is None or region.shape == "region" else region.name


def _size(found: re.Match[str], picture: Picture) -> str | None:
    """Of the picture, or of the largest thing that is meant, width x height in pixels."""
    what = found["what"].strip()
    if re.fullmatch(r"image|it|this", what):
        return f"{picture.width} x {picture.height}"
    region = _meant(what, picture)
    return None if region is None else f"{region.right - region.left:.0f} x {region.bottom - region.top:.0f}"


def _where(found: re.Match[str], picture: Picture) -> str | None:
    region = _meant(found["what"], picture)
    return None if region is None else place_of(region, picture)


def _meant(what: str, picture: Picture) -> Region | None:
    """The largest thing that the words name, or the largest of all for `it`; None where there is none."""
    wanted = Wanted() if re.fullmatch(_IT, what.strip()) else _understood(what)
    regions = wanted.among(scene_of(picture).regions) if wanted is not None else ()
    return max(regions, key=lambda region: region.area, default=None)


def _understood(what: str) -> Wanted | None:
    wanted = parse_wanted(what)
    return wanted if wanted.is_understood else None


def _draw(picture: Picture) -> Scene:
    """The things of a drawing; in a photograph there are none to be counted by rules."""
    scene = scene_of(picture)
    if not scene.is_drawing:
        raise ToolError(
            "vqa: this is no simple drawing, and the embedded rules cannot tell its things apart; "
            "choose another provider: --tool vqa=model"
        )
    return scene


def _yes(so: bool) -> str:  # noqa: FBT001 - a word for it
    return "yes" if so else "no"


def _form(wording: str, answered: Callable[[re.Match[str], Picture], str | None]) -> _Form:
    return _Form(re.compile(wording), answered)


_FORMS = (
    _form(r"(?:how many|count|(?:what is )?number of) (?P<what>.+?)(?: (?:are|is) (?:there|visible|shown))?", _count),
    _form(r"(?:what|which) colour (?:is|are|has|does) (?P<what>.+?)(?: have)?", _colour),
    _form(r"what is (?:main|dominant|most common|commonest) colour.*", lambda _, p: next(iter(scene_of(p).shares))),
    _form(r"what is colour(?: of (?P<what>.+))?", lambda f, p: _colour_of(f["what"] or "it", p)),
    _form(r"what (?:shape|form) (?:is|does|has) (?P<what>.+?)(?: have)?", _shape),
    _form(r"what is (?:shape|form) of (?P<what>.+)", _shape),
    _form(r"(?:(?:is|are) there|(?:do|can) you see|does (?:image|it) (?:show|contain|have)) (?P<what>.+)", _exists),
    _form(r"(?:is|are) (?:(?:it|that|image|object) )?(?P<what>(?:a |an ).+)", _exists),
    _form(r"(?:is|are) (?P<what>.+) (?P<said>[a-z]+(?: [a-z]+)?)", _is_so),
    _form(r"(?:is|are) (?P<said>[a-z]+)(?P<what>)", lambda f, p: _yes(f["said"] == _colour_of("it", p))),
    _form(r"(?:what is size of|how (?:large|big) is) (?P<what>.+)", _size),
    _form(r"where (?:is|are) (?P<what>.+)", _where),
    _form(r"what is (?:(?:this|it|that|shown|here|image|object)(?: object)?)(?: .*)?", _name),
)  # fmt: skip
