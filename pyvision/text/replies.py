r"""Find the code, the answer and the thought in a model's reply: pure functions from text to text.

Rules for code (`find_code`)
* The first block runs. What follows its `</code>` is ignored, as if a stop string had cut it: imagined
  `<interpreter>` output and later blocks never count.
* `<code>` with a fence in it (``` or ~~~; python, py, python3, ipython or no language): the code ends at the
  closing fence, `</code>`, a line that starts `<interpreter>`, `<answer>` or `<code>`, or the end of the
  reply: the first of these that leaves valid Python (a fence inside a string does not end the block). Where
  none does, the first ends it and the kernel reports the syntax error. Only the first fence counts.
* `<code>…</code>` without a fence is code when it parses and does something: a call, an assignment, an
  import, a definition, an attribute or an index. Without `</code>` as well, `<code>` must start its line.
* Unusable blocks raise FormatError: empty or comments only, marked with another language, or a tag that
  stands on its own line with something in it that is no Python.
* Anything else is prose that mentions the tag: in quotes or backticks, in mid-sentence, or
  `<code>f(x)</code>` with the sentence going on behind it. HTML-escaped tags are no tags; `<CODE>` is one.
* Without any block, a fence marked as Python is code (models forget the tag) unless the reply has a boxed
  answer. A fence without a language is not.

Rules for answers (`find_answer`), in this order
1. The last `\boxed{…}` outside the code block that is not empty; `\boxed{}` and `\boxed{...}` are
   placeholders. Braces nest, `\{` and `\}` do not count. `\boxed 7`, `\boxed B`: a number or one capital.
   A last box that is never closed was cut in the middle: FormatError.
2. The last `<answer>…</answer>` that no prose follows on its line.
3. A final-answer line (`stated_answers`). Benchmarks' own rules see the first two only (`find_boxed`).
Wrapping is taken off: `$…$`, `\(…\)`, quotes, bold, and `\text{…}` and its like around the whole content.
LaTeX spaces become plain ones.

Only the kernel writes `<interpreter>` turns. One that a reply starts a line with is made up: outside the code block
it is taken out, up to its `</interpreter>` or to the end, and no box in it counts.

Thinking (`<think>…</think>`, `<thinking>`, or all before a `</think>` that nobody opened) is taken out before
anything is looked for. A `<think>` that is never closed hides the rest of the reply.

Hostile replies cost time in proportion to their length, and no step of the work takes long, because other samples
wait for it: a cell of more than `parsing.MOST_SOURCE_CHARS` characters is not run, at most `_MOST_ENDS` ends of a
fence and `_MOST_MENTIONS` tags in mid-sentence are parsed, and a box inside of `_MOST_MACROS` macros is left as it is.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from pyvision.errors import FormatError
from pyvision.text.parsing import MOST_SOURCE_CHARS, parse_source
from pyvision.text.stated_answers import find_stated

_PYTHON = {"", "python", "python3", "py", "py3", "ipython", "ipython3"}
_FLAGS = re.IGNORECASE | re.MULTILINE
_THINKING = re.compile(r"^[ \t]*<(think|thinking)>.*?(?:</\1>|\Z)", _FLAGS | re.DOTALL)
_THINKING_END = re.compile(r"(?<![`'\"])</think(?:ing)?>(?![`'\"])", _FLAGS)
_OPEN = re.compile(r"<code(?:\s+[\w-]+=[\w\"'+-]*)?\s*>", _FLAGS)
_CLOSE = r"</code\s*>"
_CLOSE_BEHIND = re.compile(rf"\s*{_CLOSE}", re.IGNORECASE)
_PROSE = re.compile(r"[ \t`~]*[^ \t`~\n<]")  # behind a block, in its line
_QUOTES = ("'", '"', "“", "‘", "«", "「")
_BARE_END = re.compile(rf"(?P<close>{_CLOSE})|^[ \t]*<(?:code|interpreter|answer)>", _FLAGS)
_FENCE = re.compile(
    r"\s*(?P<fence_marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[ \t]*(?P<line_end>\n|\Z)?", _FLAGS
)
_LINE_FENCE = re.compile(r"^[ \t]*(?=```|~~~)", _FLAGS)
_OPEN_END = re.compile(  # of a fence or a formula around what comes next
    r"(?:(?:(?<!`)`{3,}|(?<!~)~{3,})\w*|(?<!\$)\$+)\Z"
)
_PYTHON_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*i?py(?:thon)?3?[ \t]*$", _FLAGS)
_BOX = re.compile(r"\\boxed\s*(?:(?P<brace>\{)|(?P<word>[-+]?\d[\d.,/:%]*|[A-Z]\b))")
_ANSWER_TAG = re.compile(r"<answer>|(?P<close></answer>)(?P<ends_line>[ \t]*(?=\n|\Z|<))?", _FLAGS)
_HALLUCINATED = re.compile(r"^[ \t]*<interpreter>.*?(?:</interpreter>|\Z)", _FLAGS | re.DOTALL)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MACRO = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sf|normal)?|math(?:rm|bf|it|tt|sf)|mbox|emph|operatorname)\s*(?=\{)"
)
_LATEX_SPACE = re.compile(r"(?<!\\)\\(?:[ ,;:!]|(?:quad|qquad|enspace|thinspace)(?![A-Za-z]))")
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,!:; ]|\{,\})(?=\d{3}(?!\d))")
_PAIRS = (
    ("**", "**"),
    ("$$", "$$"),
    ("$", "$"),
    (r"\(", r"\)"),
    (r"\[", r"\]"),
    ("'", "'"),
    ('"', '"'),
    ("“", "”"),
    ("‘", "’"),
)
_MOST_ENDS = 32  # each is parsed once; a reply of nothing but fences must not take minutes
_MOST_MENTIONS = 32  # likewise
_MOST_MACROS = 16
_MOST_OPEN_END_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Block:
    """A code block: text[start:end], what to run or why nothing can be, and whether its end was seen."""

    start: int
    end: int
    closed: bool
    code: str = ""
    error: str | None = None
    fence_marks: str = ""  # the fence that opened it, if one did


@dataclass(frozen=True, slots=True)
class _End:
    """A place where fenced code may end; past a final one nothing is looked for."""

    position: int
    after: int
    closes: bool
    final: bool


@dataclass(frozen=True, slots=True)
class _AnswerTag:
    """The content of an `<answer>` tag, and where the tag starts."""

    start: int
    content: str


@dataclass(slots=True)
class Steps:
    """How many characters the search for code in one reply looked at; tests hold it to a multiple of its length."""

    taken: int = 0


def find_code(text: str) -> str | None:
    """The Python that the reply wants run, or None. Raises FormatError for a block that cannot be used."""
    block = _first_block(_visible(text))
    if block is None:
        return None
    if block.error is not None:
        raise FormatError(block.error)
    if len(block.code) > MOST_SOURCE_CHARS:
        raise FormatError(
            f"the cell has {len(block.code):,} characters, and one of more than {MOST_SOURCE_CHARS:,} is not run; "
            "write shorter code, and no data in it"
        )
    return block.code


def holds_code(text: str) -> bool:
    """Whether there is a code block in the reply, usable or not."""
    return _first_block(_visible(text)) is not None


def code_is_cut(text: str) -> bool:
    """Whether the reply ends inside its code block: neither fence nor tag was closed."""
    block = _first_block(_visible(text))
    return block is not None and not block.closed


def would_close(text: str) -> bool:
    """Whether a `</code>` right behind this text ends the reply: not inside a string, a thought or quotes."""
    if any(found.end() == len(text) and not _is_closed(found) for found in _THINKING.finditer(text)):
        return False
    text = _visible(text)
    block = _first_block(text)
    if block is None:
        return not _is_quoted(text, len(text)) and _OPEN.search(text) is None
    starts_line = not text.rstrip(" \t") or text.rstrip(" \t").endswith(("\n", "```", "~~~"))
    return block.error is not None or starts_line or _parse(block.code) is not None


def find_answer(text: str) -> str | None:
    """The final answer, unwrapped, or None. Raises FormatError when the box was cut in the middle."""
    boxed = find_boxed(text)
    if boxed is not None:
        return boxed
    stated = find_stated(_without_code(_visible(text)))
    return (_unwrap(stated) or None) if stated else None


def last_resort_answer(text: str) -> str | None:
    """The whole reply: if it gives no answer in any form and the model cannot be asked again."""
    return _HALLUCINATED.sub("", _visible(text)).strip() or None


def find_boxed(text: str) -> str | None:
    """The answer in a box or an `<answer>` tag, or None. Raises FormatError when the box was cut in the middle."""
    outside = _without_code(_visible(text))
    for content in _boxes(outside):
        if content is None:
            raise FormatError(r"the last \boxed{ is never closed; give the answer again as \boxed{answer}")
        if content:
            return content
    tagged = [found for found in _answer_tags(outside) if r"\boxed" not in found.content]
    return next((content for found in reversed(tagged) if (content := _unwrap(found.content))), None)


def has_hallucinated_output(text: str) -> bool:
    """Whether the reply contains an interpreter turn that the model made up, outside its code block."""
    return _HALLUCINATED.search(_around_code(_visible(text))) is not None


def thought(text: str) -> str:
    """The prose before the code block, the `<answer>` tag or the box, whichever comes first."""
    text = _visible(text)
    block = _first_block(text)
    starts = [found.start for found in islice(_answer_tags(text), 1)]
    starts += [found.start() for found in (_BOX.search(text),) if found]
    starts += [block.start] if block else []
    prose = text[: min(starts, default=len(text))].strip()
    return (prose[:-_MOST_OPEN_END_CHARS] + _OPEN_END.sub("", prose[-_MOST_OPEN_END_CHARS:])).rstrip()


def canonical_reply(text: str) -> str:
    """The reply as it goes into the conversation: no reasoning, nothing behind its first block, and that closed."""
    text = _visible(text)
    block = _first_block(text)
    if block is None or block.error is not None:
        return _HALLUCINATED.sub("", text).strip()
    if len(block.code) > MOST_SOURCE_CHARS:  # it was not run, and is not sent again with every turn
        end = block.start + MOST_SOURCE_CHARS // 20
        omitted = f"\n# … {block.end - end:,} characters left out …"
        return f"{text[: block.start]}{text[block.start : end]}{omitted}\n{block.fence_marks}\n</code>"
    before, block_text = _HALLUCINATED.sub("", text[: block.start]), text[block.start : block.end].rstrip()
    if not _OPEN.match(text, block.start) or re.search(rf"{_CLOSE}\Z", block_text, _FLAGS):
        return before + block_text
    fence = "" if block_text.endswith(block.fence_marks) else f"\n{block.fence_marks}"
    return f"{before}{block_text}{fence}\n</code>"


def without_thinking(text: str) -> str:
    """The reply without its reasoning blocks, so that code and boxes inside them do not count."""
    text = _THINKING.sub("", text)
    ends = [found.end() for found in _THINKING_END.finditer(text)]
    return text[ends[-1] :] if ends else text


def _is_closed(thinking: re.Match[str]) -> bool:
    return thinking[0].lower().endswith(f"</{thinking[1].lower()}>")


def _visible(text: str) -> str:
    return without_thinking(text.replace("\r\n", "\n"))


def _without_code(text: str) -> str:
    return _HALLUCINATED.sub("", _around_code(text))


def _around_code(text: str) -> str:
    block = _first_block(text)
    return text if block is None else f"{text[: block.start]}\n{text[block.end :]}"


@lru_cache(maxsize=4)  # of one reply the loop, the screen and the record all ask
def _first_block(text: str) -> _Block | None:
    return find_block(text, Steps())


def find_block(text: str, steps: Steps) -> _Block | None:
    """The first code block. The search only goes forward: what one tag finds out, the next one does not look for."""
    tags = _Tags(text, steps)
    for tag in _OPEN.finditer(text):
        block = tags.block(tag)
        if block is not None:
            return block
    return _find_untagged(text, steps)


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

    def block(self, tag: re.Match[str]) -> _Block | None:
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

    def _bare(self, tag: re.Match[str]) -> _Block | None:
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
            return _Block(tag.start(), after, found is not None, code)
        return self._unusable(tag, stop, after, code) if starts_line else None

    def _unusable(self, tag: re.Match[str], stop: int, after: int, code: str) -> _Block | None:
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
        return _Block(tag.start(), after if has_close else tag.end(), found is not None, error=error)

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


def _is_quoted(text: str, position: int) -> bool:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line.endswith(_QUOTES) or line.count("`") % 2 == 1


def _find_untagged(text: str, steps: Steps) -> _Block | None:
    opening = _PYTHON_FENCE.search(text)
    fence = opening and _FENCE.match(text, opening.start())
    if not fence:
        return None
    block = _fence(text, fence.start(), fence, steps)
    if block is None or block.error is not None:
        return None
    answered = any(content != "" for content in _boxes(text[: block.start] + text[block.end :]))
    return None if answered else block


def _fence(text: str, start: int, fence: re.Match[str], steps: Steps) -> _Block | None:
    """The block behind an opening fence; None where it is one line of prose between backticks."""
    one_line = fence["line_end"] is None
    is_python = fence["language"].lower() in _PYTHON
    code_start = fence.end() if is_python else fence.end("fence_marks")
    if not is_python and not one_line:
        error = f"the code block is marked {fence['language']!r}; only Python runs, between ```python and ```"
        return _Block(start, fence.end(), closed=True, error=error)
    end, code = _first_valid(text, code_start, fence["fence_marks"], steps)
    if one_line and "\n" not in code and not _does_something(code, closed=True):
        return None
    closed = end.closes or text[code_start : end.position].rstrip().endswith(fence["fence_marks"])
    if _is_empty(code):
        return _Block(
            start, end.after, closed, error="the code block is empty; put Python between ```python and ```"
        )
    return _Block(start, end.after, closed, code, fence_marks=fence["fence_marks"])


def _first_valid(text: str, start: int, fence_marks: str, steps: Steps) -> tuple[_End, str]:
    """The first end that leaves valid Python, else the first of all."""
    tried: list[tuple[_End, str]] = []
    for end in islice(_ends(text, start, fence_marks, steps), _MOST_ENDS):
        steps.taken += end.position - start
        code = _clean(text[start : end.position], fence_marks)
        tried.append((end, code))
        tree = _parse(code)
        if tree is not None and tree.body:
            return end, code
        if end.final:
            break
    return tried[0]


def _ends(text: str, start: int, fence_marks: str, steps: Steps) -> Iterator[_End]:
    mark = fence_marks[0]
    fence = rf"(?P<fence>(?<!{mark}){mark}{{{len(fence_marks)},}})[ \t]*(?=$|{_CLOSE})"
    pattern = re.compile(rf"{fence}|(?P<close>{_CLOSE})|^[ \t]*<(?:code|interpreter|answer)>", _FLAGS)
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
    return "the <code> block holds no valid Python; put the code between ```python and ``` inside it"


def _clean(body: str, fence_marks: str) -> str:
    """Without blank lines around it, a closing fence at its end, and an indentation that does not parse."""
    code = re.sub(r"\A(?:[ \t]*\n)+", "", body).rstrip().removesuffix(fence_marks).rstrip()
    if code[:1] not in {" ", "\t"}:
        return code
    dedented = textwrap.dedent(code)
    return dedented if _parse(code) is None else code


def _is_empty(code: str) -> bool:
    tree = _parse(code)
    return not code.strip() or (tree is not None and not tree.body)


def _does_something(code: str, *, closed: bool) -> bool:
    tree = _parse(code)
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
            # `tags (optional)` is a valid call, but nobody writes one so
            return line <= len(lines) and lines[line - 1][column : column + 1] == b"("
        case ast.Attribute() | ast.Subscript():
            return closed
        case _:
            return False


def _parse(code: str) -> ast.Module | None:
    try:
        return parse_source(code)
    except SyntaxError:
        return None


def _answer_tags(text: str) -> Iterator[_AnswerTag]:
    """The `<answer>` tags that are closed at the end of a line, or before another tag."""
    start: re.Match[str] | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag["close"]:
            start = None if text.endswith(("`", "'", '"'), 0, tag.start()) else tag
        elif start is not None and tag["ends_line"] is not None:
            yield _AnswerTag(start.start(), text[start.end() : tag.start()])
            start = None


def _boxes(text: str) -> Iterator[str | None]:
    """The contents of all boxes, the last one first; None for one that is never closed."""
    for box in reversed(list(_BOX.finditer(text))):
        if box["word"] is not None:
            yield box["word"].rstrip(".,/:")
            continue
        end = _closing_brace(text, box.start("brace"))
        yield None if end is None else _unwrap(text[box.end() : end])


def _closing_brace(text: str, opening: int) -> int | None:
    depth = 0
    for found in _BRACES.finditer(text, opening):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return None


def _unwrap(content: str) -> str:
    content = _with_plain_spaces(content).strip()
    for _ in range(_MOST_MACROS):
        before, content = content, _without_pair(_without_macro(content)).strip()
        if content == before:
            break
    if re.search(r"\\[^%$#&_{}]", content) is None:  # no LaTeX left that its escapes belong to
        content = re.sub(r"\\([%$#&_{}])", r"\1", content)
    return "" if content.strip(".…") == "" else content


def _with_plain_spaces(content: str) -> str:
    r"""`(3,\ 4)` as `(3, 4)`, and `12\,000` as `12000`: LaTeX's spaces mean nothing outside of it."""
    content = _THOUSANDS.sub("", content)
    return re.sub(r" {2,}", " ", _LATEX_SPACE.sub(" ", content)) if _LATEX_SPACE.search(content) else content


def _without_macro(content: str) -> str:
    macro = _MACRO.match(content)
    whole = macro is not None and _closing_brace(content, macro.end()) == len(content) - 1
    return content[macro.end() + 1 : -1] if macro and whole else content


def _without_pair(content: str) -> str:
    for left, right in _PAIRS:
        inner = content.removeprefix(left).removesuffix(right)
        if len(inner) == len(content) - len(left) - len(right) and left not in inner and right not in inner:
            return inner
    return content
