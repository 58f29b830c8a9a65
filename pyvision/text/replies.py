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
* Tool calls and tags of other harnesses run where their meaning is clear (`dialects`). `tool_code` is Python.

Rules for answers (`find_answer`), in this order
1. The last `\boxed{…}` outside the code block that is not empty; `\boxed{}` and `\boxed{...}` are
   placeholders. Braces nest, `\{` and `\}` do not count. `\boxed 7`, `\boxed B`: a number or one capital.
   A last box that is never closed was cut in the middle: FormatError.
2. The last `<answer>…</answer>` that no prose follows on its line.
3. A final-answer line (`stated_answers`). Benchmarks' own rules see the first two only (`find_boxed`).
What is only the form of an answer is taken off (`boxed_answers`).

Only the kernel writes `<interpreter>` turns, or `<sandbox_output>` and `<tool_response>` as other harnesses call them.
One that a reply starts a line with is made up: outside the code block it is taken out, up to its end tag or to the end
of the reply, and no box in it counts.

Thinking (`<think>…</think>`, `<thinking>`, or all before a `</think>` that nobody opened) is taken out before
anything is looked for. A `<think>` that is never closed hides the rest of the reply.

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
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from pyvision.errors import FormatError
from pyvision.text.boxed_answers import BOX, answer_tags, boxes, clean_answer
from pyvision.text.dialects import Call, Shown, describe_other_fence, find_calls, write_cell
from pyvision.text.parsing import MOST_SOURCE_CHARS, parse_source
from pyvision.text.stated_answers import find_stated
from pyvision.types import Message, Reply, Text

_PYTHON = {"", "python", "python3", "py", "py3", "ipython", "ipython3", "tool_code"}
_FLAGS = re.IGNORECASE | re.MULTILINE
_THINKING = re.compile(r"^[ \t]*<(think|thinking)>.*?(?:</\1>|\Z)", _FLAGS | re.DOTALL)
_DECLINED = re.compile(
    r"(?:(?:(?:i'?m|i am|we're|we are)\s+(?:(?:very|so|really)\s+)?)?sorry[,.]?\s+(?:but\b|i\b|as\b)"
    r"|i (?:must|have to) decline\b"
    r"|(?:unfortunately,?\s+)?i\s+(?:can'?t|cannot|can not|won't|will not|am unable to|am not able to)\s+"
    r"(?:help|assist|comply|do that|answer|identify|provide|discuss|continue|fulfil|engage|describe)\b"
    r"|i'm (?:unable|not able) to\b|as an ai\b)",
    re.IGNORECASE,
)
_THINKING_END = re.compile(r"(?<![`'\"])</think(?:ing)?>(?![`'\"])", _FLAGS)
_OPEN = re.compile(r"<code(?:\s+[\w-]+=[\w\"'+-]*)?\s*>", _FLAGS)
_CLOSE = r"</code\s*>"
_CLOSE_BEHIND = re.compile(rf"\s*{_CLOSE}", re.IGNORECASE)
_PROSE = re.compile(r"[ \t`~]*[^ \t`~\n<]")  # behind a block, in its line
_QUOTES = ("'", '"', "“", "‘", "«", "「")
_OUTPUT = "interpreter|sandbox_output|tool_response"  # the turns of a kernel, here and in other harnesses
_BARE_END = re.compile(rf"(?P<close>{_CLOSE})|^[ \t]*<(?:code|answer|{_OUTPUT})>", _FLAGS)
_FENCE = re.compile(
    r"\s*(?P<fence_marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[ \t]*(?P<line_end>\n|\Z)?", _FLAGS
)
_LINE_FENCE = re.compile(r"^[ \t]*(?=```|~~~)", _FLAGS)
_OPEN_END = re.compile(  # of a fence or a formula around what comes next
    r"(?:(?:(?<!`)`{3,}|(?<!~)~{3,})\w*|(?<!\$)\$+)\Z"
)
_PYTHON_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(?:i?py(?:thon)?3?|tool_code)[ \t]*$", _FLAGS)
_HALLUCINATED = re.compile(rf"^[ \t]*<({_OUTPUT})>.*?(?:</\1>|\Z)", _FLAGS | re.DOTALL)
_MOST_BLOCKS = 8  # that are counted behind the one that runs
_MOST_ENDS = 32  # each is parsed once; a reply of nothing but fences must not take minutes
_MOST_MENTIONS = 32  # likewise
_EMPTY = "(empty)"  # endpoints refuse a message without text
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


def find_code(text: str, shown: Shown = MappingProxyType({})) -> str | None:
    """The Python that the reply wants run, or None. Raises FormatError for a block that cannot be used.

    shown: how large the model saw each image, for the boxes of tool calls.
    """
    block = _first_block(_visible(text))
    if block is None:
        return None
    if block.error is not None:
        raise FormatError(block.error)
    code = write_cell(block.calls, shown) if block.calls else block.code
    if len(code) > MOST_SOURCE_CHARS:
        raise FormatError(
            f"the cell has {len(code):,} characters, and one of more than {MOST_SOURCE_CHARS:,} is not run; "
            "write shorter code, and no data in it"
        )
    return code


def holds_code(text: str) -> bool:
    """Whether there is a code block in the reply, usable or not."""
    return _first_block(_visible(text)) is not None


def count_dropped_blocks(text: str) -> int:
    """How many code blocks stand behind the one that runs, or, without its tag, before it.

    A model may believe that they run too.
    """
    text = _visible(text)
    first = _first_block(text)
    before = _find_untagged(text[: first.start], Steps()) if first else None
    blocks: list[_Block] = [before] if before else []
    while len(blocks) <= _MOST_BLOCKS and (block := _first_block(text)) is not None:
        blocks.append(block)
        text = text[block.end :]
    return sum(block.error is None for block in blocks[1:])


def describe_unusable(text: str) -> str:
    """What is wrong with a reply that gives neither code nor an answer, in words for the model."""
    return describe_other_fence(_visible(text)) or "the reply holds neither code nor an answer"


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
    return (clean_answer(stated) or None) if stated else None


def last_resort_answer(text: str) -> str | None:
    """The whole reply: if it gives no answer in any form and the model cannot be asked again."""
    return _HALLUCINATED.sub("", _visible(text)).strip() or None


def find_boxed(text: str) -> str | None:
    """The answer in a box or an `<answer>` tag, or None. Raises FormatError when the box was cut in the middle."""
    outside = _without_code(_visible(text))
    for content in boxes(outside):
        if content is None:
            raise FormatError(r"the last \boxed{ is never closed; give the answer again as \boxed{answer}")
        if content:
            return content
    tagged = [found for found in answer_tags(outside) if r"\boxed" not in found.content]
    return next((content for found in reversed(tagged) if (content := clean_answer(found.content))), None)


def has_hallucinated_output(text: str) -> bool:
    """Whether the reply contains an interpreter turn that the model made up, outside its code block."""
    return _HALLUCINATED.search(_around_code(_visible(text))) is not None


def thought(text: str) -> str:
    """The prose before the code block, the `<answer>` tag or the box, whichever comes first."""
    text = _visible(text)
    block = _first_block(text)
    starts = [found.start for found in islice(answer_tags(text), 1)]
    starts += [found.start() for found in (BOX.search(text),) if found]
    starts += [block.start] if block else []
    prose = text[: min(starts, default=len(text))].strip()
    return (prose[:-_MOST_OPEN_END_CHARS] + _OPEN_END.sub("", prose[-_MOST_OPEN_END_CHARS:])).rstrip()


def reply_message(reply: Reply) -> Message:
    """The reply as it goes into the conversation: unchanged up to the `</code>` that ends it.

    That tag, which an endpoint cuts off, is there again, and nothing behind it, whatever the endpoint did. A cell that
    is too long to be run is shortened, so that it is not sent again with every turn.
    """
    text = reply.text if reply.calls else _up_to_stop(reply)
    written = (Text(text),) if text.strip() else ()
    return Message("assistant", (*written, *reply.calls) or (Text(_EMPTY),), opaque=reply.opaque)


def _up_to_stop(reply: Reply) -> str:
    text, visible = reply.text, _visible(reply.text)
    block = _first_block(visible)
    if block is None or not _OPEN.match(visible, block.start):
        return text
    if len(block.code) > MOST_SOURCE_CHARS:
        end = block.start + MOST_SOURCE_CHARS // 20
        omitted = f"\n# … {block.end - end:,} characters left out …"
        return f"{visible[:end]}{omitted}\n{block.fence_marks}\n</code>"
    behind = visible[block.end :]
    if _ends_with_tag(visible[block.start : block.end]):
        return text.removesuffix(behind)
    return f"{text}</code>" if reply.finish == "stop" and not behind.strip() else text


def _ends_with_tag(block: str) -> bool:
    return re.search(rf"{_CLOSE}\s*\Z", block[-_MOST_OPEN_END_CHARS:], re.IGNORECASE) is not None


def without_thinking(text: str) -> str:
    """The reply without its reasoning blocks, so that code and boxes inside them do not count."""
    text = _THINKING.sub("", text)
    ends = [found.end() for found in _THINKING_END.finditer(text)]
    return text[ends[-1] :] if ends else text


def declines(text: str) -> bool:
    """Whether a reply opens as a model does that will not answer: "I'm sorry, but …", "I can't help with …"."""
    return _DECLINED.match(text.replace("’", "'").lstrip(" \t\n*_\"'")) is not None


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
    block = find_block(text, Steps())
    return _find_calls(text, block) or block


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


def _find_calls(text: str, block: _Block | None) -> _Block | None:
    """The tool calls before the block, or anywhere; unusable ones only where the reply has nothing else."""
    found = find_calls(text[: block.start] if block else text)
    if found is None or (block and found.fault):
        return None
    if (found.fault or not found.explicit) and _has_answer(text[: found.start] + text[found.end :]):
        return None
    return _Block(found.start, found.end, found.closed, error=found.fault, calls=found.calls)


def _has_answer(text: str) -> bool:
    boxed = any(content != "" for content in boxes(text))
    return boxed or next(answer_tags(text), None) is not None or find_stated(text) is not None


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
    answered = any(content != "" for content in boxes(text[: block.start] + text[block.end :]))
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
    pattern = re.compile(rf"{fence}|(?P<close>{_CLOSE})|^[ \t]*<(?:code|answer|{_OUTPUT})>", _FLAGS)
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
