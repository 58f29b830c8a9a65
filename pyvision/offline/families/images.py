"""Questions about whole images: their size, their differences, their text and their colours."""

from __future__ import annotations

import re
from math import gcd

from pyvision.offline.plans import (
    CellFindings,
    MeasuredAnswer,
    MeasurementPlan,
    PlannedCell,
    Value,
    format_literal,
)
from pyvision.offline.wording import COLOUR, COLOURS, SHAPE, ParsedQuestion, kind_of, match_wording, shape_of

_OF = r"(?: (?:of|for) image)?(?: in pixels)?"
_ORIENTATION = r"(?:landscape|portrait|square)"
_SIZES = {
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
    "orientation": (
        rf"is image (?:in )?(?:a )?{_ORIENTATION}(?:,? or (?:a )?{_ORIENTATION})*(?: format| orientation| mode)?",
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
_BOTH = r"(?:two )?images"
_BETWEEN = rf"(?: (?:between|in|of) {_BOTH})?"
_DIFFER = (
    r"(?:differs?|different|changed|changes|differences?|is different|are different|has changed|have changed)"
)
_DIFFERENCES = {
    "same": (
        rf"(?:are|do) {_BOTH} (?:exactly )?(?:same|identical|equal|match|alike|different|differ)",
        rf"(?:is|are) there (?:a |any )?differences?{_BETWEEN}",
    ),
    "count": (
        r"(?:how many|count|number of) (?:differences|different places|changes)(?: are there)?"
        rf"{_BETWEEN}(?: are there)?",
        rf"in how many places do {_BOTH} differ",
    ),
    "share": (
        rf"how (?:much|many pixels)(?: of image)? {_DIFFER}{_BETWEEN}",
        rf"how much do {_BOTH} differ",
        rf"what (?:share|percentage|fraction) of (?:pixels|image) {_DIFFER}{_BETWEEN}",
    ),
    "where": (
        rf"(?:what|where)(?: is| are| has| have)? {_DIFFER}{_BETWEEN}",
        rf"(?:where|how) do {_BOTH} differ",
        rf"(?:find|spot|list|locate|describe|show)(?: all)? differences?{_BETWEEN}",
        rf"which (?:part|region|area)s? (?:of image )?{_DIFFER}{_BETWEEN}",
    ),
}
_WHERE = r"(?: (?:in|on|of|from) (?:image|sign|label|page|document|poster|receipt|card|note))"
_SAYS = r"(?:(?:is|are) (?:written|shown|printed|there|displayed|visible)|appears?|is|are)"
_TEXTS = (
    rf"(?:what|which) (?:text|words?|letters?|sentence) {_SAYS}{_WHERE}?(?: here)?",
    rf"what does (?:text|label|image|poster|note|page|it|this) (?:say|read){_WHERE}?",
    rf"what is written(?: here)?{_WHERE}?",
    rf"what is (?:text|word){_WHERE}?",
    rf"(?:read|transcribe|ocr|extract)(?: out)?(?: all)? (?:text|words?|writing|letters){_WHERE}?",
)
_SIGNS = r"(?:street |road |traffic )?(?:sign|sign post|nameplate)s?"
_LOOKS = 5  # around what was found before
_TAGS = (
    r"(?:what|which) (?:name|text|words?) (?:is|are) (?:written |printed )?on (?:name )?(?:tag|badge|plate)",
    r"what is (?:written|printed|name) on (?:name )?(?:tag|badge|plate)",
    r"what does (?:name )?(?:tag|badge|plate) (?:say|read)",
    r"(?:read|transcribe) (?:name )?(?:tag|badge|plate)",
    rf"(?:what|which) (?:text|words?|names?|street) (?:is|are) (?:written |printed )?on {_SIGNS}",
    rf"what (?:is|are) (?:written |printed )?on {_SIGNS}",
    rf"what (?:do|does) {_SIGNS} (?:say|read)",
    rf"(?:read|transcribe) {_SIGNS}",
)
_IN = r"(?: (?:in|of|on|within) image)?"
_WHAT = r"(?:(?:what|which) colours? (?:is|are|has)|what (?:is|are) colours? (?:of|at|in))"
_DEGREE = r"(?:most )?(?:dominant|main|common|frequent|primary|prevailing|predominant|commonest)"
_DOMINANT = (
    rf"(?:(?:what|which) (?:is )?)?{_DEGREE} colour(?: is)?{_IN}",
    rf"(?:what|which) colour (?:is {_DEGREE}|dominates|covers most of|fills most of)(?: image)?{_IN}",
)
_BACKGROUND = (rf"{_WHAT} background{_IN}", rf"(?:what is )?background colour{_IN}")
_PLACES = {
    r"(?:centre|center|middle)": (0.5, 0.5),
    r"(?:top|upper)[- ]left(?: corner)?": (0.0, 0.0),
    r"(?:top|upper)[- ]right(?: corner)?": (1.0, 0.0), r"(?:bottom|lower)[- ]left(?: corner)?": (0.0, 1.0),
    r"(?:bottom|lower)[- ]right(?: corner)?": (1.0, 1.0),
}  # fmt: skip
_PIXEL = rf"{_WHAT} (?:pixel|point)(?: at)? \(?(?P<x>\d{{1,5}}), ?(?P<y>\d{{1,5}})\)?{_IN}"
_OF_SHAPE = rf"{_WHAT} (?P<shape>{SHAPE}){_IN}"
_KIND = r"(?: (?:colour|things?|objects?|areas?|parts?|spots?|shapes?|regions?|pixels?))?"
_PRESENT = (
    rf"(?:is|are) there (?:anything |something |any |an? )?(?P<colour>{COLOUR}){_KIND}{_IN}",
    rf"does image (?:contain|have|show) (?:anything |something |any |an? )?(?P<colour>{COLOUR}){_KIND}",
)
_LIST = (
    r"(?:what|which) colours (?:are|appear|occur|can be seen)(?: (?:there|used|present|visible|shown))?"
    rf"{_IN}",
    r"(?:what|which) colours does image (?:have|contain)",
    rf"(?:list|name)(?: all)?(?: of)? colours(?: used| present)?{_IN}",
)
_COLOURS_COUNTED = r"(?:different |distinct )?colours(?: (?:are|is))?(?: (?:used|present|does image have))?"


def plan_size(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for width, height, aspect ratio, orientation and number of pixels."""
    kind = kind_of(question.plain, _SIZES)
    if kind is None or question.image is None:
        return None
    thought = "The size is a property of the image itself, so I read it in the kernel."
    cell = PlannedCell(thought, "size", (question.image,))
    return MeasurementPlan((cell,), lambda finding: _read_size(finding, kind, question.plain))


def _read_size(finding: CellFindings, kind: str, plain: str) -> MeasuredAnswer | None:
    width, height = finding.whole("width"), finding.whole("height")
    if not width or not height:
        return None
    step = gcd(width, height)
    orientation = "square" if width == height else "landscape" if width > height else "portrait"
    pixels = f"{width * height / 1e6:.2f}" if "megapixel" in plain else str(width * height)
    answers = {
        "width": str(width),
        "height": str(height),
        "ratio": f"{width // step}:{height // step}",
        "pixels": pixels,
    }
    named = re.fullmatch(r"is .*? (?:a )?(landscape|portrait|square)(?: format| orientation| mode)?", plain)
    if kind == "orientation":
        answers["orientation"] = (
            orientation if not named or " or " in plain else "Yes" if named[1] == orientation else "No"
        )
    return MeasuredAnswer(
        f"The image measures {width} x {height} pixels.", answers.get(kind, f"{width} x {height}")
    )


def plan_difference(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions that compare exactly two images: whether, where and how much they differ."""
    kind = kind_of(question.plain, _DIFFERENCES)
    if kind is None or question.images != 2:
        return None
    cell = PlannedCell(
        "I compare the two images pixel by pixel and draw boxes around what changed.", "difference", (0, 1)
    )
    negated = "differ" in question.plain
    return MeasurementPlan((cell,), lambda finding: _read_difference(finding, kind, negated=negated))


def _read_difference(finding: CellFindings, kind: str, *, negated: bool) -> MeasuredAnswer | None:
    same_size, count, share = finding.flag("same_size"), finding.whole("count"), finding.number("share")
    boxes, changed = finding.boxes("regions"), finding.whole("changed")
    if same_size is None or count is None or share is None or boxes is None or changed is None:
        return None
    sentence = (
        f"{changed} pixels ({share:.2%}) differ, in {count} separate regions."
        if same_size
        else "The sizes differ."
    )
    if kind == "same":
        same = same_size and not (finding.whole("any") or 0)
        return MeasuredAnswer(sentence, "Yes" if same != negated else "No")
    if not same_size:
        return MeasuredAnswer(sentence, "the images have different sizes") if kind == "where" else None
    where = "; ".join(f"x {left}-{right}, y {top}-{bottom}" for left, top, right, bottom in boxes)
    more = f" and {count - len(boxes)} more" if count > len(boxes) else ""
    places = f"{where}{more} ({share:.2%} of the pixels)" if count else "nothing differs"
    answers = {"count": str(count), "share": f"{changed} pixels ({share:.2%})", "where": places}
    return MeasuredAnswer(sentence, answers[kind])


def plan_text(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits requests to read what is written."""
    if question.image is None or not match_wording(question.plain, *_TEXTS, *_TAGS):
        return None
    image = (question.image,)
    closer = PlannedCell("I look for text in the whole image.", "closer", image)
    around = PlannedCell("I zoom in and look around what was found.", "around", image)
    cells = (
        *((closer, *[around] * _LOOKS) if match_wording(question.plain, *_TAGS) else ()),
        PlannedCell(
            "I read the text with an engine that is installed in the sandbox.", "text", image, {"layout": "3"}
        ),
        PlannedCell("Nothing was read, so I try again for scattered text.", "text", image, {"layout": "11"}),
    )
    return MeasurementPlan(cells, _read_text)


def _read_text(finding: CellFindings) -> MeasuredAnswer | None:
    text = finding.text("text")
    return (
        MeasuredAnswer("The text was read by an engine in the sandbox, without corrections.", text)
        if text
        else None
    )


def plan_colours(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions about colours, but not about the colour of something that must be recognized first."""
    if question.image is None:
        return None
    call = _choose_call(question)
    if call is None:
        return None
    function, arguments = call
    counting = function == "find_colours" and bool(question.counted)
    thought = "I measure the colours of the pixels that the question is about."
    variables = {"function": function, "arguments": ", ".join(("drawing", *map(format_literal, arguments)))}
    cell = PlannedCell(thought, "colours", (question.image,), variables)
    present = function == "find_colour"
    return MeasurementPlan(
        (cell,), lambda finding: _read_colours(finding, present=present, counting=counting)
    )


def _choose_call(question: ParsedQuestion) -> tuple[str, tuple[Value, ...]] | None:
    """The function of pyvision_offline that answers the question, and its arguments behind the drawing."""
    plain = question.plain
    if match_wording(plain, *_DOMINANT):
        return "find_dominant_colour", ()
    if match_wording(plain, *_BACKGROUND):
        return "find_background_colour", ()
    if pixel := match_wording(plain, _PIXEL):
        return "find_colour_at", (int(pixel["x"]), int(pixel["y"]))
    for place, at in _PLACES.items():
        if match_wording(plain, rf"{_WHAT} (?:at |in )?{place}{_IN}"):
            return "find_colour_near", at
    if shape := match_wording(plain, _OF_SHAPE):
        return "find_colours_of_objects", (shape_of(shape["shape"]),)
    if there := match_wording(plain, *_PRESENT):
        return "find_colour", (COLOURS[there["colour"]],)
    if match_wording(plain, *_LIST) or match_wording(question.counted, _COLOURS_COUNTED):
        return "find_colours", ()
    return None


def _read_colours(finding: CellFindings, *, present: bool, counting: bool) -> MeasuredAnswer | None:
    colours = finding.texts("colours")
    if colours is None or (not colours and not present):
        return None
    sentence = f"Measured: {', '.join(colours) or 'none of it'}."
    if present:
        return MeasuredAnswer(sentence, "Yes" if colours else "No")
    if counting:
        return MeasuredAnswer(sentence, str(len(colours)))
    return MeasuredAnswer(sentence, ", ".join(colours))
