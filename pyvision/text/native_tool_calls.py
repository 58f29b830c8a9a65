"""Read the native tool calls of a reply: the cell that a call asks for, and how it is shown while it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from types import MappingProxyType

from pyvision.errors import FormatError
from pyvision.text.foreign_tool_calls import SentSizes, read_call, write_cell
from pyvision.text.python_source import MOST_SOURCE_CHARS
from pyvision.text.replies import find_code
from pyvision.types import Message, Reply, Text, ToolCall

_CODE_TAG = re.compile(r"\s*<code>", re.IGNORECASE)
_FENCES = re.compile("`{3,}")
_FIRST_VALUE = re.compile(r'\s*\{\s*"[^"\\]{1,40}"\s*:\s*"')
_MOST_BEFORE_VALUE = 200
_COMPLETE = re.compile(  # of the content of a JSON string: what can be decoded before the rest is there
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*"
)
_SHOWN_CHARS = 200


def code_of(call: ToolCall, sizes: SentSizes = MappingProxyType({})) -> str:
    """The Python that the call wants run. Raises FormatError, in words for the model, where that is not clear.

    Understood: code as a field of JSON, in another object or list in it, plain, in a fence or in `<code>` tags; and
    tools of other harnesses as `foreign_tool_calls` lists them. sizes: how large the model saw each image.
    """
    code = write_cell((read_call(call.name, call.arguments),), sizes)
    if _CODE_TAG.match(code):
        code = find_code(code) or code
    if len(code) > MOST_SOURCE_CHARS:
        raise FormatError(
            f"the cell has {len(code):,} characters, and cells of more than {MOST_SOURCE_CHARS:,} are not run; "
            "write shorter code, and no data in it"
        )
    return code


def write_calls(calls: Sequence[ToolCall]) -> str:
    """The calls as cells of the text protocol; one that asks for no cell as a line that names it."""
    return "\n".join(map(_write_call, calls))


def text_of(part: Text | ToolCall) -> str:
    """The text of a part; of a call as a cell."""
    return part.text if isinstance(part, Text) else write_calls((part,))


def render_reply(reply: Reply) -> str:
    """What a reply says and asks for, as text: its prose, then its calls as cells."""
    return f"{reply.text.rstrip()}\n{write_calls(reply.calls)}".lstrip("\n") if reply.calls else reply.text


def as_text(message: Message) -> Message:
    """The same message in the text protocol: calls as cells, and the result of a call as an interpreter turn."""
    if message.role == "tool":
        return Message("user", (Text("<interpreter>\n"), *message.parts, Text("\n</interpreter>")))
    if not message.calls:
        return message
    text = f"{message.text.rstrip()}\n{write_calls(message.calls)}".lstrip("\n")
    return Message(message.role, (Text(text),))


class PartialCell:
    """A call that is still arriving, as the text of a cell: the pieces concatenate to a block between `<code>` tags."""

    def __init__(self, *, is_free_form: bool = False) -> None:
        self._is_free_form = is_free_form
        self._is_open = self._is_over = False
        self._waiting = ""

    def feed(self, piece: str) -> str:
        """The text of the cell that is new with this piece of the arguments."""
        if self._is_over:
            return ""
        if self._is_free_form:
            return self._begin() + piece
        self._waiting += piece
        return self._decode()

    def end(self) -> str:
        """What closes the block; empty if it was never opened."""
        is_open, self._is_open, self._is_over = self._is_open, False, True
        return "\n```\n</code>\n" if is_open else ""

    def _begin(self) -> str:
        if self._is_open:
            return ""
        self._is_open = True
        return "\n<code>\n```python\n"

    def _decode(self) -> str:
        """What of the first text in the object is complete."""
        start = ""
        if not self._is_open:
            value = _FIRST_VALUE.match(self._waiting)
            if value is None:
                self._is_over = len(self._waiting) > _MOST_BEFORE_VALUE
                return ""
            start, self._waiting = self._begin(), self._waiting[value.end() :]
        complete = _COMPLETE.match(self._waiting)
        assert complete is not None  # it matches the empty text too
        self._waiting = self._waiting[complete.end() :]
        text: str = json.loads(f'"{complete[0]}"', strict=False)
        if self._waiting.startswith('"') or len(self._waiting) > len(r"\ud83d\ude00"):
            self._is_over = True  # the end of the text, or an escape that is none
        return start + text


def _write_call(call: ToolCall) -> str:
    try:
        code = code_of(call)
    except FormatError:
        arguments = " ".join(call.arguments.split())[:_SHOWN_CHARS]
        return f"(a call of {call.name or 'an unnamed tool'}: {arguments})"
    fence = "`" * max(3, 1 + max((len(found) for found in _FENCES.findall(code)), default=0))
    return f"<code>\n{fence}python\n{code.rstrip()}\n{fence}\n</code>"
