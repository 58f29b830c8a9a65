"""Read the evidence that a reply cites: `<evidence>image_clue_0 [left, top, right, bottom] … cell 2</evidence>`.

Any punctuation is allowed between a name and its numbers, JSON too; several boxes may follow one name. Each number and
each list is bounded, and the patterns are linear: the text comes from a model.
"""

from __future__ import annotations

import re

from pyvision.types import Box, Evidence

MOST_CITED = 16
_MOST_CHARS = 4_000  # of the citations, and of numbers and notes after one name
_TAG = re.compile(r"<evidence>(.*?)(?:</evidence>|\Z)", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"\b(?:(image)(?:_clue)?|(cell))[ _]?#?(\d{1,4})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,7}(?:\.\d{1,6})?(?![\w])")


def find_evidence(text: str) -> tuple[Evidence, ...]:
    """What the last evidence tag cites, as it stands there: nothing is compared with the images yet."""
    tags = _TAG.findall(text)
    if not tags:
        return ()
    cited = tags[-1][:_MOST_CHARS]
    names = list(_NAME.finditer(cited))
    ends = [*(name.start() for name in names), len(cited)][1:]
    found = [
        each for name, end in zip(names, ends, strict=False) for each in _read(name, cited[name.end() : end])
    ]
    return tuple(dict.fromkeys(found))[:MOST_CITED]


def without_evidence(text: str) -> str:
    """The text without its evidence tags and what is in them."""
    return _TAG.sub("", text)


def _read(name: re.Match[str], after: str) -> list[Evidence]:
    number = int(name[3])
    if name[2]:
        return [Evidence(f"cell {number}")]
    numbers = [float(each) for each in _NUMBER.findall(after)]
    boxes: list[Box] = list(zip(*[iter(numbers)] * 4, strict=False))
    if not boxes:
        return [Evidence(f"image_clue_{number}")]
    return [Evidence(f"image_clue_{number}", box) for box in boxes]
