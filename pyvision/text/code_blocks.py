r"""Find the first code block in a reply: a tag, a fence, or both.

Rules for code (`find_block`)
* The first block runs. What follows its `</code>` is ignored, as if a stop string had cut it: imagined
  `<interpreter>` output and later blocks never count.
* `<code>` with a fence in it (``` or ~~~; python, py, python3, ipython or no language): the code ends at the
  closing fence, `</code>`, a line that starts `<interpreter>`, `<answer>` or `<code>`, or the end of the
  reply: the first of these that leaves valid Python (a fence inside a string does not end the block). Where
  none does, the first ends it and the kernel reports the syntax error. Only the first fence counts.
* `<code>…</code>` without a fence is code when it parses and does something: a call, an assignment, an
  import, a definition, an attribute or an index. Without `</code>` as well, `<code>` must start its line.
  Lines that IPython runs (`!ls`, `%time x`, `pip install x`) count as calls.
* Unusable blocks raise FormatError: empty or comments only, marked with another language, or a tag that
  stands on its own line with something in it that is no Python.
* Anything else is prose that mentions the tag: in quotes or backticks, in mid-sentence, or
  `<code>f(x)</code>` with the sentence going on behind it. HTML-escaped tags are no tags; `<CODE>` is one.
* Without any block, a fence marked as Python is code (models forget the tag) unless the reply has a boxed
  answer. A fence without a language is not.

Hostile replies cost time in proportion to their length, and no step of the work takes long, because other samples
wait for it: a cell of more than `parsing.MOST_SOURCE_CHARS` characters is not run, at most `_MOST_ENDS` ends of a
fence and `_MOST_MENTIONS` tags in mid-sentence are parsed.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from pyvision.text.boxed_answers import boxes
from pyvision.text.foreign_tool_calls import Call
from pyvision.text.python_source import parse_source

_PYTHON = {"", "python", "python3", "py", "py3", "ipython", "ipython3", "tool_code"}
FLAGS = re.IGNORECASE | re.MULTILINE
OPEN_TAG = re.compile(r"<code(?:\s+[\w-]+=[\w\"'+-]*)?\s*>", FLAGS)
CLOSE_TAG = r"</code\s*>"
_CLOSE_BEHIND = re.compile(rf"\s*{CLOSE_TAG}", re.IGNORECASE)
_PROSE = re.compile(r"[ \t`~]*[^ \t`~\n<]")  # behind a block, in its line
_QUOTES = ("'", '"', "“", "‘", "«", "「")
OUTPUT_TAGS = "interpreter|sandbox_output|tool_response"  # the turns of a kernel, here and in other harnesses
_BARE_END = re.compile(rf"(?P<close>{CLOSE_TAG})|^[ \t]*<(?:code|answer|{OUTPUT_TAGS})>", FLAGS)
_FENCE = re.compile(
    r"\s*(?P<fence_marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[ \t]*(?P<line_end>\n|\Z)?", FLAGS
)
_LINE_FENCE = re.compile(r"^[ \t]*(?=```|~~~)", FLAGS)
_PYTHON_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(?:i?py(?:thon)?3?|tool_code)[ \t]*$", FLAGS)
_OTHER_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?P<language>[\w+#.-]*)[ \t]*$", FLAGS)
_PYTHON_NAME = re.compile(r"i?py(?:thon)?3?|tool_code", re.IGNORECASE)
_IPYTHON_LINE = re.compile(r"^([ \t]*)(?:[!%]|(?:pip3?|conda) (?=install\b)).*$", re.MULTILINE)
_MOST_ENDS = 32  # each is parsed once; a reply of nothing but fences must not take minutes
_MOST_MENTIONS = 32  # for the same reason
_MOST_OPEN_END_CHARS = 200


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block: text[start:end], what to run or why nothing can be, and whether its end was seen."""

    start: int
    end: int
    closed: bool
    code: str = ""
    error: str | None = None
    fence_marks: str = ""  # the fence that opened it, if one did
    calls: tuple[Call, ...] = ()  # instead of code, in the dialect of another harness


@dataclass(frozen=True, slots=True)
class _End:
    """A place where fenced code may end; past a final one nothing is looked for."""

    position: int
    after: int
    closes: bool
    final: bool


@dataclass(slots=True)
class Steps:
    """How many characters the search for code in one reply looked at; tests hold it to a multiple of its length."""

    taken: int = 0


def find_block(text: str, steps: Steps) -> CodeBlock | None:
    """The first code block. The search only goes forward: what one tag finds out, the next one does not look for."""
    tags = _Tags(text, steps)
    for tag in OPEN_TAG.finditer(text):
        block = tags.block(tag)
        if block is not None:
            return block
    return find_untagged(text, steps)


class _Line:
    """The line in which a position is, up to there; positions are asked for in their order."""

    def __init__(self, text: str, start: int, steps: Steps) -> None:
        self.is_first = True
        self.is_blank = True
        self.backticks = 0
        self._text = text
        self._position = start
        self._steps = steps

    def read_to(self, position: int) -> None:
        """Read on, up to this position."""
        piece = self._text[self._position : position]
        self._steps.taken += len(piece)
        self._position = max(position, self._position)
        if "\n" in piece:
            piece = piece.rpartition("\n")[2]
            self.is_first, self.is_blank, self.backticks = False, True, 0
        self.is_blank = self.is_blank and not piece.strip()
        self.backticks += piece.count("`")


class _Tags:
    """The opening tags of a reply, asked for in their order."""

    def __init__(self, text: str, steps: Steps) -> None:
        self._text = text
        self._steps = steps
        self._line = _Line(text, 0, steps)
        self._end: re.Match[str] | None = None  # where the last block without a fence ends
        self._searched = -1  # from where that was looked for; -1: it was not yet
        self._mentions = 0

    def block(self, tag: re.Match[str]) -> CodeBlock | None:
        """The block that this tag opens; None where it is only mentioned."""
        text = self._text
        self._line.read_to(tag.start())
        if self._line.backticks % 2 == 1 or text.endswith(_QUOTES, 0, tag.start()):
            return None
        fence = _FENCE.match(text, tag.end())
        if fence is None:
            return self._bare(tag)
        if fence["line_end"] is None and self._is_one_too_many():
            return None
        return _fence(text, tag.start(), fence, self._steps)

    def _bare(self, tag: re.Match[str]) -> CodeBlock | None:
        """The block behind a tag that no fence follows."""
        text, starts_line = self._text, self._line.is_blank
        is_shared = self._find_end(tag.end())
        found = self._end
        stop = found.start() if found else len(text)
        has_close = found is not None and found["close"] is not None
        if not starts_line and (not has_close or (is_shared and self._is_one_too_many())):
            return None
        after = found.end() if found and has_close else stop
        self._steps.taken += stop - tag.end()
        code = _clean(text[tag.end() : stop], "```")
        if has_close and "\n" not in code and _PROSE.match(text, after):
            return None
        if (has_close or starts_line) and _does_something(code, closed=has_close):
            return CodeBlock(tag.start(), after, found is not None, code)
        return self._unusable(tag, stop, after, code) if starts_line else None

    def _unusable(self, tag: re.Match[str], stop: int, after: int, code: str) -> CodeBlock | None:
        """What a tag that starts its line opens if that is no Python: a fence further down, or an error."""
        text, found = self._text, self._end
        has_close = found is not None and found["close"] is not None
        inner = _LINE_FENCE.search(text, tag.end(), stop)
        fence = inner and _FENCE.match(text, inner.start())
        if fence:
            return _fence(text, tag.start(), fence, self._steps)
        alone = not text[tag.end() : stop].partition("\n")[0].strip()
        if not has_close and not alone:
            return None
        error = _complaint(code)
        return CodeBlock(tag.start(), after if has_close else tag.end(), found is not None, error=error)

    def _find_end(self, start: int) -> bool:
        """Find where a block without a fence ends that starts here. Returns whether the last one ended there too."""
        if self._searched >= 0 and (self._end is None or self._end.start() >= start):
            return True
        self._end = _BARE_END.search(self._text, start)
        self._searched = start
        self._steps.taken += (self._end.end() if self._end else len(self._text)) - start
        return False

    def _is_one_too_many(self) -> bool:
        self._mentions += 1
        return self._mentions > _MOST_MENTIONS


def is_quoted(text: str, position: int) -> bool:
    """Whether the text at this position is in quotes or backticks."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line.endswith(_QUOTES) or line.count("`") % 2 == 1


def find_untagged(text: str, steps: Steps) -> CodeBlock | None:
    """A fence marked as Python in a reply without a tag and without a boxed answer."""
    opening = _PYTHON_FENCE.search(text)
    fence = opening and _FENCE.match(text, opening.start())
    if not fence:
        return None
    block = _fence(text, fence.start(), fence, steps)
    if block is None or block.error is not None:
        return None
    answered = any(content != "" for content in boxes(text[: block.start] + text[block.end :]))
    return None if answered else block


def _fence(text: str, start: int, fence: re.Match[str], steps: Steps) -> CodeBlock | None:
    """The block behind an opening fence; None where it is one line of prose between backticks."""
    one_line = fence["line_end"] is None
    is_python = fence["language"].lower() in _PYTHON
    code_start = fence.end() if is_python else fence.end("fence_marks")
    if not is_python and not one_line:
        error = f"the code block is marked {fence['language']!r}; only Python runs, between ```python and ```"
        return CodeBlock(start, fence.end(), closed=True, error=error)
    end, code = _first_valid(text, code_start, fence["fence_marks"], steps)
    if one_line and "\n" not in code and not _does_something(code, closed=True):
        return None
    closed = end.closes or text[code_start : end.position].rstrip().endswith(fence["fence_marks"])
    if _is_empty(code):
        return CodeBlock(
            start, end.after, closed, error="the code block is empty; put Python between ```python and ```"
        )
    return CodeBlock(start, end.after, closed, code, fence_marks=fence["fence_marks"])


def _first_valid(text: str, start: int, fence_marks: str, steps: Steps) -> tuple[_End, str]:
    """The first end that leaves valid Python, else the first of all."""
    tried: list[tuple[_End, str]] = []
    for end in islice(_ends(text, start, fence_marks, steps), _MOST_ENDS):
        steps.taken += end.position - start
        code = _clean(text[start : end.position], fence_marks)
        tried.append((end, code))
        tree = parse_or_none(code)
        if tree is not None and tree.body:
            return end, code
        if end.final:
            break
    return tried[0]


def _ends(text: str, start: int, fence_marks: str, steps: Steps) -> Iterator[_End]:
    mark = fence_marks[0]
    fence = rf"(?P<fence>(?<!{mark}){mark}{{{len(fence_marks)},}})[ \t]*(?=$|{CLOSE_TAG})"
    pattern = re.compile(rf"{fence}|(?P<close>{CLOSE_TAG})|^[ \t]*<(?:code|answer|{OUTPUT_TAGS})>", FLAGS)
    line = _Line(text, start, steps)
    for found in pattern.finditer(text, start):
        line.read_to(found.start())
        match found.lastgroup:
            case "fence" if line.is_blank or line.is_first:
                close = _CLOSE_BEHIND.match(text, found.end())
                yield _End(found.start(), close.end() if close else found.end(), closes=True, final=False)
            case "close":
                is_final = line.is_blank or _ends_with(text, start, found.start(), fence_marks)
                yield _End(found.start(), found.end(), closes=True, final=is_final)
            case None:
                yield _End(found.start(), found.start(), closes=True, final=True)
    yield _End(len(text), len(text), closes=False, final=True)


def _ends_with(text: str, start: int, end: int, fence_marks: str) -> bool:
    """Whether there are fence marks and nothing but a few spaces before `end`."""
    return text[max(start, end - _MOST_OPEN_END_CHARS) : end].rstrip(" \t").endswith(fence_marks)


def _complaint(code: str) -> str:
    if _is_empty(code):
        return "the <code> block is empty; put Python between ```python and ```"
    try:
        parse_source(code)
    except SyntaxError as error:
        where = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
        return f"the <code> block is not valid Python ({where}); put the code between ```python and ``` inside it"
    return "the <code> block runs nothing: no call, assignment or import; write a cell that prints or shows something"


def _clean(body: str, fence_marks: str) -> str:
    """Without blank lines around it, a closing fence at its end, and an indentation that does not parse."""
    code = re.sub(r"\A(?:[ \t]*\n)+", "", body).rstrip().removesuffix(fence_marks).rstrip()
    if code[:1] not in {" ", "\t"}:
        return code
    dedented = textwrap.dedent(code)
    return dedented if parse_or_none(code) is None else code


def _is_empty(code: str) -> bool:
    tree = parse_or_none(code)
    return not code.strip() or (tree is not None and not tree.body)


def _does_something(code: str, *, closed: bool) -> bool:
    code = _IPYTHON_LINE.sub(r"\1print()", code)
    tree = parse_or_none(code)
    if tree is None:
        return False
    lines = code.encode("utf-8", "replace").split(b"\n")
    return any(_is_effect(node, lines, closed=closed) for node in ast.walk(tree))


def _is_effect(node: ast.AST, lines: Sequence[bytes], *, closed: bool) -> bool:
    match node:
        case (
            ast.Assign()
            | ast.AugAssign()
            | ast.Import()
            | ast.ImportFrom()
            | ast.FunctionDef()
            | ast.ClassDef()
        ):
            return True
        case ast.AnnAssign(value=value):
            return value is not None  # `Note: this` is a valid annotation
        case ast.Call(func=ast.expr(end_lineno=int(line), end_col_offset=int(column))):
            # `tags (optional)` is a valid call, but is never meant as one
            return line <= len(lines) and lines[line - 1][column : column + 1] == b"("
        case ast.Attribute() | ast.Subscript():
            return closed
        case _:
            return False


def parse_or_none(code: str) -> ast.Module | None:
    """The syntax tree; None for what is no Python."""
    try:
        return parse_source(code)
    except SyntaxError:
        return None


def describe_other_fence(text: str) -> str | None:
    """The first code fence that is not run, for a fault."""
    fence = _OTHER_FENCE.search(text)
    if fence is None or _PYTHON_NAME.fullmatch(fence["language"]):
        return None
    marked = f"is marked {fence['language']!r}" if fence["language"] else "has no language"
    return f"its code fence {marked} and was not run; only Python runs, between ```python and ```"
