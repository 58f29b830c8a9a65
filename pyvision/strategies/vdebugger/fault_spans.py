"""Where a program is at fault: read a critic's marks, mark a program, keep a change within the marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from pyvision.strategies.vdebugger.task_types import FUNCTION
from pyvision.text.replies import without_thinking

OPEN, CLOSE = "<<<BUG>>>", "<<<BUG/>>>"
_MARKED = re.compile(
    r"<<<\s*BUG\s*>>>(.*?)<<<\s*(?:BUG\s*/|/\s*BUG|END[ _]?BUG)\s*>>>", re.DOTALL | re.IGNORECASE
)
_ANY_MARK = re.compile(r"<<<\s*(?:/\s*|END[ _]?)?BUG\s*/?\s*>>>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """program[start:end], as characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What a critic has marked. fault: why it is less than one place in the program; None if it is one."""

    spans: tuple[Span, ...] = ()
    fault: str | None = None


def marks_in(reply: str, program: str) -> Marks:
    """The spans that a reply marks. What is compared are the characters that are no white space.

    Either the program was written out again with marks in it, or only the marked part stands there: that has to
    occur in the program once. Several spans are all kept.
    """
    text = without_thinking(reply)
    if _MARKED.search(text) is None:
        return Marks(fault="half a mark" if _ANY_MARK.search(text) else "nothing is marked")
    spans = _in_whole(text, program) or _in_parts(text, program)
    if not spans:
        return Marks(fault="what is marked is not in the program, or more than once")
    if len(spans) < len(_MARKED.findall(text)):
        return Marks(spans, "some of what is marked is not in the program, or more than once")
    return Marks(spans, "several spans are marked" if len(spans) > 1 else None)


def mark_program(program: str, spans: tuple[Span, ...]) -> str:
    """The program with its spans between marks."""
    for span in sorted(spans, key=lambda each: each.start, reverse=True):
        inside = program[span.start : span.end]
        program = f"{program[: span.start]}{OPEN}{inside}{CLOSE}{program[span.end :]}"
    return program


def within(old: str, new: str, spans: tuple[Span, ...]) -> str:
    """The new program with every line restored that was changed outside the lines of the spans."""
    lines, others = old.splitlines(), new.splitlines()
    allowed = {
        number
        for span in spans
        for number in range(_line_of(old, span.start), _line_of(old, max(span.start, span.end - 1)) + 1)
    }
    kept: list[str] = []
    for change, start, end, at, to in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        if change != "equal" and _touches(range(start, end), allowed, start):
            before = next((n for n in range(start, end) if n in allowed), end)
            after = next((n + 1 for n in reversed(range(start, end)) if n in allowed), end)
            # Lines at the edges of a change that carry no mark answer each other one by one.
            put_in = others[at + before - start : max(at, to - (end - after))]
            kept += [*lines[start:before], *put_in, *lines[after:end]]
        else:
            kept += lines[start:end]
    return "\n".join(kept)


def line_span(program: str, first: int, last: int) -> Span:
    """Lines, counted from 1, without the white space around them."""
    lines = program.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    text = "".join(lines[first - 1 : last])
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _in_whole(text: str, program: str) -> tuple[Span, ...]:
    """By a copy of the program with marks in it."""
    found = re.search(rf"(?:<<<\s*BUG\s*>>>\s*)?(?:async )?def {FUNCTION}\b", text)
    begin = found.start() if found else 0
    places = [place for place, letter in enumerate(program) if not letter.isspace()]
    letters = "".join(program.split())
    copy, spans = _unmark(text[begin:])
    offset = letters.find(_header_on(copy, program))
    if offset < 0 or not copy.startswith(letters[offset:]):
        return ()
    real = [(start + offset, end + offset) for start, end in spans if start < end <= len(letters) - offset]
    return tuple(Span(places[start], places[end - 1] + 1) for start, end in real)


def _header_on(copy: str, program: str) -> str:
    """What the copy begins with, up to the length of a signature."""
    header = "".join(next((line for line in program.splitlines() if FUNCTION in line), "").split())
    return header if copy.startswith(header) and header else "\0"


def _unmark(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters of a text without marks, and where its marked parts are in them."""
    letters, spans, at = "", [], 0
    for found in _MARKED.finditer(text):
        letters += "".join(_ANY_MARK.sub("", text[at : found.start()]).split())
        inside = "".join(_ANY_MARK.sub("", found[1]).split())
        spans.append((len(letters), len(letters) + len(inside)))
        letters += inside
        at = found.end()
    return letters + "".join(_ANY_MARK.sub("", text[at:]).split()), spans


def _in_parts(text: str, program: str) -> tuple[Span, ...]:
    """By each marked part alone, where it occurs once."""
    spans = []
    for found in _MARKED.finditer(text):
        pattern = r"\s*".join(map(re.escape, "".join(_ANY_MARK.sub("", found[1]).split())))
        places = [each.span() for each in re.finditer(pattern, program)] if pattern else []
        if len(places) == 1:
            spans.append(Span(*places[0]))
    return tuple(dict.fromkeys(spans))


def _touches(changed: range, allowed: set[int], at: int) -> bool:
    if changed:
        return any(number in allowed for number in changed)
    return at in allowed or at - 1 in allowed  # lines that were put in, at the edge of a span or inside it


def _line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place)
