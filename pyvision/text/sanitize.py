"""Make the output of a cell safe for a model, a terminal and a recording.

Encoded data becomes a note that says so, long text keeps its head and tail, cut between lines, and tags that only we or
the chat template may write (`<interpreter>`, `<image_clue_1>`, `<|im_start|>`, …) have their brackets replaced by ‹ and
›, in any case, spacing or width, and with invisible characters in them.

Not covered: letters of other scripts that merely look the same, and text that persuades without any tag.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

SHOWN_CHARS = 8_000
DUMP_CHARS = 200  # of base64 or hexadecimal in a row

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # colours and cursor movements
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*+(?:\x07|\x1b\\|\x9c)"  # window titles, links, device strings
    r"|\x1b[ -/]*+[0-~]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# C0 but tab and newline, DEL, C1, and the marks that turn the direction of the text around.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LINE_BREAK = re.compile("\r\n|[\u2028\u2029]")

# No group is repeated possessively: Python before 3.11.5 then leaves the match at the wrong place.
_LINE_END = r"(?:\\n|\n[ \t]*|['\"][ \t]*\n[ \t]*b?['\"])"  # of wrapped base64, as text or inside a repr
_DUMP = re.compile(
    r"(?:data:[\w/+.;=-]{1,80},)?"
    rf"[\w+/=-]{{40,}}+(?:{_LINE_END}[\w+/=-]{{40,}}+)*(?:{_LINE_END}[\w+/]*+={{1,2}})?",
    re.ASCII,
)

_OURS = r"interpreter|image_clue|code|answer|question|think"
_TEMPLATE = (
    r"thinking|system|user|assistant|human|tool|tool_call|tool_calls|tool_response|function_calls"
    r"|s|bos|eos|pad|unk|image|img|video|start_of_turn|end_of_turn|start_of_image|end_of_image"
)
_TAG = re.compile(
    rf"<[\s/\\]*+(?:{_OURS})(?:[^<>]{{0,200}}>)?"
    rf"|<[\s/\\]*+(?:{_TEMPLATE})[\s/]*+>"
    r"|<[\s/\\]*+\|[^<>]{0,100}>?|\|\s*+>"
    r"|\[[\s/]*+(?:inst|img|img_break|img_end|system_prompt|available_tools|tool_calls|tool_results)\s*+\]"
    r"|<<[\s/]*+sys\s*+>>"
)
_HARMLESS = {"<": "‹", "[": "‹", ">": "›", "]": "›"}


def sanitize(text: str, limit: int = SHOWN_CHARS) -> str:
    """The text as a model may see it, at most `limit` characters long; ordinary output is left as it is."""
    return fit(without_dumps(text), limit)


def without_dumps(text: str) -> str:
    """The printable text with a note in the place of encoded data: what `fit` can show, before it is cut."""
    return _DUMP.sub(_without_dump, printable(text))


def fit(text: str, limit: int) -> str:
    """What `without_dumps` returned, without its middle where it is too long, and with every tag harmless."""
    return _neutral(_shorten_middle(text, limit))


def share_by_need(needs: Sequence[int], limit: int) -> tuple[int, ...]:
    """How much of the limit each gets: all it needs, or else an equal part of what smaller needs leave over."""
    shares, left = [0] * len(needs), limit
    by_need = sorted(range(len(needs)), key=needs.__getitem__)
    for served, index in enumerate(by_need):
        shares[index] = min(needs[index], left // (len(needs) - served))
        left -= shares[index]
    return tuple(shares)


def printable(text: str) -> str:
    """The text without control characters, as a terminal would leave it on the screen."""
    text = _LINE_BREAK.sub("\n", replace_surrogates(text))
    text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return _CONTROL.sub("", text)


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot hold."""
    return _SURROGATE.sub("\ufffd", text)


def parse_json(text: str, **options: Any) -> Any:
    """The value of this JSON, without the lone surrogates that escapes in it can stand for. Raises as `json.loads`."""
    value = json.loads(text, **options)
    if _SURROGATE_ESCAPE.search(text):
        value = json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)))
    return value


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis, at most `limit` characters long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _overwritten(line: str) -> str:
    """What is left of a line that carriage returns went back over: the last state of a progress bar."""
    first, *later = line.split("\r")
    screen = list(first)
    for part in later:
        screen[: len(part)] = part
    return "".join(screen)


def _without_dump(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) < DUMP_CHARS or not _is_dump(run):
        return run
    return f"[base64 data, {len(run):,} characters left out]"


def _is_dump(run: str) -> bool:
    """Whether this is encoded data, not a rule of dashes, a path, a long name or a long number."""
    separators = sum(map(run.count, "-_/+="))
    has_digit = re.search(r"\d", run) is not None
    has_lower, has_upper = re.search(r"[a-z]", run) is not None, re.search(r"[A-Z]", run) is not None
    if re.fullmatch(r"(?:[0-9a-fA-F]|\\n|\s)+", run):
        return has_digit and (has_lower or has_upper)
    return has_digit and has_lower and has_upper and separators * 10 < len(run)


def _shorten_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    room = limit - len(_note_omission(text))
    if room < 2:
        return text[: max(limit, 0)]
    head = text[: room - room * 2 // 5]
    head = head[: _last_cut(head)]
    tail = text[len(text) - room * 2 // 5 :]
    tail = tail[len(tail) - _last_cut(tail[::-1]) :]
    return head + _note_omission(text[len(head) : len(text) - len(tail)]) + tail


def _last_cut(text: str) -> int:
    """The length up to the last end of a line, else of a word or a number, if that is in the second half."""
    for ends in ("\n", " ,\t"):
        cut = max(text.rfind(end) for end in ends)
        if cut >= len(text) // 2:
            return cut if ends == "\n" else cut + 1
    return len(text)


def _note_omission(omitted: str) -> str:
    lines = omitted.strip("\n").count("\n") + 1
    inside = f" in {lines:,} lines" if lines > 1 else ""
    return f"\n[… {len(omitted):,} characters{inside} left out …]\n"


def _neutral(text: str) -> str:
    """The text with the brackets of every tag replaced, one character by one."""
    folded, places = _fold(text)
    characters = list(text)
    for match in _TAG.finditer(folded):
        for at in range(match.start(), match.end()):
            if folded[at] in _HARMLESS:
                characters[places[at]] = _HARMLESS[folded[at]]
    return "".join(characters)


def _fold(text: str) -> tuple[str, list[int]]:
    """Plain lower-case text without invisible characters, and where each of its characters stood."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        plain = character.lower() if character.isascii() else _plain(character)
        folded.extend(plain)
        places.extend([place] * len(plain))
    return "".join(folded), places


def _plain(character: str) -> str:
    if unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return ""
    return unicodedata.normalize("NFKC", character).lower()
