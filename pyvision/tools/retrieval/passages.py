"""Split text and Markdown into passages that keep the titles they stand under.

A passage is one or more whole paragraphs of one section; a paragraph that is longer than a passage is parted at the
end of a sentence or, failing that, of a word. Tables, lists and code are paragraphs like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pyvision.tools.retrieval.entries import Passage

PASSAGE_CHARS = 1000  # about 200 words: a passage is shown to a model whole, and several of them
TITLE_CHARS = 120
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)|[。！？]")


def markdown_passages(text: str, name: str) -> Iterator[Passage]:
    """The passages of a Markdown file. Titles: that of the front matter or of the first heading, then the section's.

    name: the title of a file that has none.
    """
    text = _one_kind_of_newline(text)
    front = _FRONT_MATTER.match(text)
    given = _FRONT_TITLE.search(front[1]) if front else None
    sections = list(_sections(text[front.end() :] if front else text))
    headings = [heading for heading, _ in sections if heading]
    title = short_title(given[1]) if given else headings[0] if headings else name
    for heading, body in sections:
        own = title if heading in ("", title) else f"{title} — {heading}"
        for part in split(body):
            yield Passage(own, part)


def text_passages(text: str, name: str) -> Iterator[Passage]:
    """The passages of a plain text. Its title is the first line where that stands alone and is short, else `name`."""
    text = _one_kind_of_newline(text).strip()
    first, _, rest = text.partition("\n")
    if rest.startswith("\n") and len(first) <= TITLE_CHARS and not _SENTENCE_END.search(first[-2:]):
        name, text = first.strip(), rest
    for part in split(text):
        yield Passage(name, part)


def split(text: str) -> Iterator[str]:
    """The paragraphs of a text, as many at once as a passage holds."""
    held = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for part in _parts(paragraph.strip()):
            if held and len(held) + len(part) + 2 > PASSAGE_CHARS:
                yield held
                held = ""
            held = f"{held}\n\n{part}" if held else part
    if held:
        yield held


def short_title(text: str) -> str:
    """A title on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def _one_kind_of_newline(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """(heading, body): the first one may have no heading. A # in a fence of code is no heading."""
    heading, body, fence = "", list[str](), ""
    for line in text.split("\n"):
        if opening := _FENCE.match(line):
            fence = "" if fence == opening[1] else fence or opening[1]
        if not fence and (found := _HEADING.match(line)):
            yield heading, "\n".join(body)
            heading, body = short_title(found[2]), []
        else:
            body.append(line)
    yield heading, "\n".join(body)


def _parts(paragraph: str) -> Iterator[str]:
    """A paragraph, or where it is too long pieces that are not."""
    while len(paragraph) > PASSAGE_CHARS:
        end = _break(paragraph[:PASSAGE_CHARS])
        yield paragraph[:end].strip()
        paragraph = paragraph[end:].strip()
    if paragraph:
        yield paragraph


def _break(start: str) -> int:
    """Where to cut: after the last sentence of the second half, else before the last word there, else at its end."""
    half = len(start) // 2
    ends = [found.end() for found in _SENTENCE_END.finditer(start, half)]
    if ends:
        return ends[-1]
    spaces = [
        place
        for place, (before, after) in enumerate(pairwise(start), 1)
        if before.isspace() > after.isspace()
    ]
    return spaces[-1] if spaces and spaces[-1] > half else len(start)
