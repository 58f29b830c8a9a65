r"""Find the code, the answer and the thought in a model's reply: pure functions from text to text.

Code (`find_code`): the first block (`code_blocks` has the rules). Tool calls and tags of other harnesses run where
their meaning is clear (`foreign_tool_calls`).

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
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from pyvision.errors import FormatError
from pyvision.text.boxed_answers import BOX, answer_tags, boxes, clean_answer
from pyvision.text.code_blocks import (
    CLOSE_TAG,
    FLAGS,
    OPEN_TAG,
    OUTPUT_TAGS,
    CodeBlock,
    Steps,
    describe_other_fence,
    find_block,
    find_untagged,
    is_quoted,
    parse_or_none,
)
from pyvision.text.foreign_tool_calls import SentSizes, find_calls, write_cell
from pyvision.text.python_source import MOST_SOURCE_CHARS
from pyvision.text.stated_answers import find_stated
from pyvision.types import Message, Reply, Text

_THINKING = re.compile(r"^[ \t]*<(think|thinking)>.*?(?:</\1>|\Z)", FLAGS | re.DOTALL)
_THINKING_END = re.compile(r"(?<![`'\"])</think(?:ing)?>(?![`'\"])", FLAGS)
_OPEN_END = re.compile(  # of a fence or a formula around what comes next
    r"(?:(?:(?<!`)`{3,}|(?<!~)~{3,})\w*|(?<!\$)\$+)\Z"
)
_HALLUCINATED = re.compile(rf"^[ \t]*<({OUTPUT_TAGS})>.*?(?:</\1>|\Z)", FLAGS | re.DOTALL)
_MOST_BLOCKS = 8  # that are counted behind the one that runs
_MOST_OPEN_END_CHARS = 200  # in which the end of a prose or of a block is looked for
_EMPTY = "(empty)"  # endpoints refuse a message without text


def find_code(text: str, sizes: SentSizes = MappingProxyType({})) -> str | None:
    """The Python that the reply wants run, or None. Raises FormatError for a block that cannot be used.

    sizes: how large the model saw each image, for the boxes of tool calls.
    """
    block = _first_block(_visible(text))
    if block is None:
        return None
    if block.error is not None:
        raise FormatError(block.error)
    code = write_cell(block.calls, sizes) if block.calls else block.code
    if len(code) > MOST_SOURCE_CHARS:
        raise FormatError(
            f"the cell has {len(code):,} characters, and cells of more than {MOST_SOURCE_CHARS:,} are not run; "
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
    before = find_untagged(text[: first.start], Steps()) if first else None
    blocks: list[CodeBlock] = [before] if before else []
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
        return not is_quoted(text, len(text)) and OPEN_TAG.search(text) is None
    starts_line = not text.rstrip(" \t") or text.rstrip(" \t").endswith(("\n", "```", "~~~"))
    return block.error is not None or starts_line or parse_or_none(block.code) is not None


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


def find_thought(text: str) -> str:
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
    if block is None or not OPEN_TAG.match(visible, block.start):
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
    return re.search(rf"{CLOSE_TAG}\s*\Z", block[-_MOST_OPEN_END_CHARS:], re.IGNORECASE) is not None


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
def _first_block(text: str) -> CodeBlock | None:
    block = find_block(text, Steps())
    return _find_calls(text, block) or block


def _find_calls(text: str, block: CodeBlock | None) -> CodeBlock | None:
    """The tool calls before the block, or anywhere; unusable ones only where the reply has nothing else."""
    found = find_calls(text[: block.start] if block else text)
    if found is None or (block and found.fault):
        return None
    if (found.fault or not found.explicit) and _has_answer(text[: found.start] + text[found.end :]):
        return None
    return CodeBlock(found.start, found.end, found.closed, error=found.fault, calls=found.calls)


def _has_answer(text: str) -> bool:
    boxed = any(content != "" for content in boxes(text))
    return boxed or next(answer_tags(text), None) is not None or find_stated(text) is not None
