r"""Find the part of an answer that is meant to be final: in a box, after "the answer is", or all of it."""

from __future__ import annotations

import re

from pyvision.errors import FormatError
from pyvision.text.replies import find_boxed

_CUE = re.compile(r"\banswers?(?:\s+(?:is|are|would\s+be)\b\s*:?|\s*:)[\s*_]*", re.IGNORECASE)
_MARKS = " \t\r\n*_`\"'“”‘’"


def unwrap_box(answer: str) -> str:
    r"""The content of the last `\boxed{}` or `<answer>`, or the answer as it is when there is none."""
    try:
        return find_boxed(answer) or answer
    except FormatError:  # a box that was cut: the prose around it is all there is
        return answer


def final_part(answer: str) -> str:
    """The boxed content; else what follows the last "answer is" or "Answer:"; else the whole, without marks."""
    text = unwrap_box(answer)
    *_, last = [None, *_CUE.finditer(text)]
    rest = text[last.end() :] if last else ""
    return rest.strip(_MARKS) or text.strip(_MARKS)
