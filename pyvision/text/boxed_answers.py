r"""Find the boxes and `<answer>` tags of a reply; take off what is only the form of an answer (`clean_answer`).

Form: `$…$`, `\(…\)`, quotes, bold, backticks, `\text{…}` and its like around the whole content, and the full stop of a
sentence. LaTeX spaces become plain ones.
Content: the full stop of "D.C.", of "Main St.", within quotes, and of a text of several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FLAGS = re.IGNORECASE | re.MULTILINE
BOX = re.compile(r"\\boxed\s*(?:(?P<brace>\{)|(?P<word>[-+]?\d[\d.,/:%]*|[A-Z]\b))")
_ANSWER_TAG = re.compile(r"<answer>|(?P<close></answer>)(?P<ends_line>[ \t]*(?=\n|\Z|<))?", _FLAGS)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MACRO = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sf|normal)?|math(?:rm|bf|it|tt|sf)|mbox|emph|operatorname)\s*(?=\{)"
)
_LATEX_SPACE = re.compile(r"(?<!\\)\\(?:[ ,;:!]|(?:quad|qquad|enspace|thinspace)(?![A-Za-z]))|(?<=\w)~(?=\\)")
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,!:; ]|\{,\})(?=\d{3}(?!\d))")
_MARKS = (("**", "**"), ("*", "*"), ("`", "`"), ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_QUOTES = (("'", "'"), ('"', '"'), ("“", "”"), ("‘", "’"), ("«", "»"), ("「", "」"))
_ABBREVIATED = re.compile(  # and its full stop belongs to it: U.S., Ph.D., J. F. K., Main St.
    r"(?:(?<![A-Za-z])(?:(?:[A-Za-z]{1,3}\.){2,5}|(?:[A-Z]\. ){1,4}[A-Z]\.)"
    r"|\S\s(?:St|Ave|Rd|Mt|Jr|Sr|Inc|Ltd|Corp|Co|Bros|etc|al|approx)\.)\Z"
)
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])['’](?=[A-Za-z])")
_LONGEST_ABBREVIATED = 24  # characters
_MOST_MACROS = 16


@dataclass(frozen=True, slots=True)
class AnswerTag:
    """The content of an `<answer>` tag, and where the tag starts."""

    start: int
    content: str


def answer_tags(text: str) -> Iterator[AnswerTag]:
    """The `<answer>` tags that are closed at the end of a line, or before another tag."""
    start: re.Match[str] | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag["close"]:
            start = None if text.endswith(("`", "'", '"'), 0, tag.start()) else tag
        elif start is not None and tag["ends_line"] is not None:
            yield AnswerTag(start.start(), text[start.end() : tag.start()])
            start = None


def boxes(text: str) -> Iterator[str | None]:
    """The contents of all boxes, the last one first; None for one that is never closed."""
    for box in reversed(list(BOX.finditer(text))):
        if box["word"] is not None:
            yield box["word"].rstrip(".,/:")
            continue
        end = _closing_brace(text, box.start("brace"))
        yield None if end is None else clean_answer(text[box.end() : end])


def _closing_brace(text: str, opening: int) -> int | None:
    depth = 0
    for found in _BRACES.finditer(text, opening):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return None


def clean_answer(content: str) -> str:
    """The answer without what is only its form; empty for an ellipsis."""
    content, is_quoted = _with_plain_spaces(content).strip(), False
    for _ in range(_MOST_MACROS):
        before = content
        if not is_quoted:
            content = without_full_stop(content)
        content = _without_pair(_without_macro(content), _MARKS).strip()
        unquoted = _without_pair(content, _QUOTES).strip()
        content, is_quoted = unquoted, is_quoted or unquoted != content
        if content == before:
            break
    if re.search(r"\\[^%$#&_{}]", content) is None:  # no LaTeX left that its escapes belong to
        content = re.sub(r"\\([%$#&_{}])", r"\1", content)
    return "" if content.strip(".…") == "" else content


def without_full_stop(content: str) -> str:
    """Without the full stop of a sentence; one that is content stays, as in `U.S.`."""
    if content.endswith("..") and _ABBREVIATED.search(content[-_LONGEST_ABBREVIATED:-1]):
        return content[:-1]
    is_full_stop = content.endswith((".", "。")) and not content.endswith(("..", "\\."))
    if not is_full_stop or "\n" in content or _ABBREVIATED.search(content[-_LONGEST_ABBREVIATED:]):
        return content
    return content[:-1].rstrip()


def _with_plain_spaces(content: str) -> str:
    r"""`(3,\ 4)` as `(3, 4)`, and `12\,000` as `12000`: LaTeX's spaces mean nothing outside of it."""
    content = _THOUSANDS.sub("", content)
    return re.sub(r" {2,}", " ", _LATEX_SPACE.sub(" ", content)) if _LATEX_SPACE.search(content) else content


def _without_macro(content: str) -> str:
    macro = _MACRO.match(content)
    whole = macro is not None and _closing_brace(content, macro.end()) == len(content) - 1
    return content[macro.end() + 1 : -1] if macro and whole else content


def _without_pair(content: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for left, right in pairs:
        inner = content.removeprefix(left).removesuffix(right)
        plain = _APOSTROPHE.sub("", inner)
        if len(inner) == len(content) - len(left) - len(right) and left not in plain and right not in plain:
            return inner
    return content
