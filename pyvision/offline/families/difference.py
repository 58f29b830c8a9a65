"""The difference between two images: whether, where and how much."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import ParsedQuestion, kind_of

_BOTH = r"(?:two )?images"
_BETWEEN = rf"(?: (?:between|in|of) {_BOTH})?"
_DIFFER = (
    r"(?:differs?|different|changed|changes|differences?|is different|are different|has changed|have changed)"
)
_WORDINGS = {
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


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions that compare exactly two images."""
    kind = kind_of(asked.plain, _WORDINGS)
    if kind is None or asked.images != 2:
        return None
    thought = "I compare the two images pixel by pixel and box in what changed."
    cell = Cell(thought, "difference", ("components", "outlines"), (0, 1))
    negated = "differ" in asked.plain
    return Plan((cell,), lambda finding: _conclude(finding, kind, negated=negated))


def _conclude(finding: Finding, kind: str, *, negated: bool) -> Found | None:
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
        return Found(sentence, "Yes" if same != negated else "No")
    if not same_size:
        return Found(sentence, "the images have different sizes") if kind == "where" else None
    where = "; ".join(f"x {left}-{right}, y {top}-{bottom}" for left, top, right, bottom in boxes)
    more = f" and {count - len(boxes)} more" if count > len(boxes) else ""
    places = f"{where}{more} ({share:.2%} of the pixels)" if count else "nothing differs"
    answers = {"count": str(count), "share": f"{changed} pixels ({share:.2%})", "where": places}
    return Found(sentence, answers[kind])
