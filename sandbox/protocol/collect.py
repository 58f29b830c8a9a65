"""Turn the messages of one cell into a CellResult, within the limits of the Policy, while they come in.

Every message is made by untrusted code: types are checked, what does not fit is ignored, and memory stays
bounded however much arrives.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from sandbox.policy import Policy
from sandbox.protocol.image_header import measure
from sandbox.results import CellError, Figure, Omitted, Output, Stream

OMITTED = "application/x-omitted"
_NOTE_CHARS = 300
_MESSAGE_CHARS = 4_000
_TRACEBACK_CHARS = 8_000
_LINE = re.compile(r'^  File "<cell>", line (\d{1,9})', re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Collector:
    """Takes the iopub messages of one cell in order; keeps the head and the tail of its text."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._head: list[Output] = []
        self._head_room = policy.output_chars - policy.output_chars // 2
        self._tail: deque[Output] = deque()
        self._tail_chars = 0
        self._omitted_chars = 0
        self._figures = 0
        self._omitted_figures = 0
        self.error: CellError | None = None

    def add(self, message_type: str, content: Mapping[str, Any]) -> None:
        """Take one message; a kind that shows nothing is ignored."""
        match message_type:
            case "stream":
                self._add_stream(content)
            case "execute_result" | "display_data":
                self._add_display(content.get("data"))
            case "error":
                self.error = cell_error(content)

    def omit(self, note: str) -> None:
        """Say in place that something is missing."""
        self._add_figure(Omitted(note[:_NOTE_CHARS]))

    def outputs(self) -> tuple[Output, ...]:
        """Everything kept so far, in order, with a note where something was left out."""
        gap = [Omitted(f"{self._omitted_chars} characters left out")] if self._omitted_chars else []
        over = [Omitted(f"{self._omitted_figures} more figures left out")] if self._omitted_figures else []
        return (*_joined([*self._head, *gap, *self._tail]), *over)

    def _add_stream(self, content: Mapping[str, Any]) -> None:
        name, text = content.get("name"), content.get("text")
        if isinstance(text, str) and name in ("stdout", "stderr"):
            self._add_text("stdout" if name == "stdout" else "stderr", text)

    def _add_display(self, data: object) -> None:
        if not isinstance(data, dict):
            return
        encoded, note, text = (
            data.get("image/png") or data.get("image/jpeg"),
            data.get(OMITTED),
            data.get("text/plain"),
        )
        if isinstance(encoded, str):
            self._add_figure(self._figure(encoded))
        elif isinstance(note, str):
            self.omit(note)
        elif isinstance(text, str):
            self._add_text("result", text + "\n")

    def _add_text(self, name: Literal["stdout", "stderr", "result"], text: str) -> None:
        text = _encodable(text)
        head, rest = text[: self._head_room], text[self._head_room :]
        self._head_room -= len(head)
        if head:
            self._head.append(Stream(name, head))
        if rest:
            self._tail.append(Stream(name, rest))
            self._tail_chars += len(rest)
            self._cut_tail()

    def _cut_tail(self) -> None:
        over = self._tail_chars - self._policy.output_chars // 2
        while over > 0:
            first = self._tail.popleft()
            if not isinstance(first, Stream):
                self._head.append(first)  # figures have a limit of their own
                continue
            cut = min(over, len(first.text))
            if cut < len(first.text):
                self._tail.appendleft(Stream(first.name, first.text[cut:]))
            over -= cut
            self._tail_chars -= cut
            self._omitted_chars += cut

    def _add_figure(self, figure: Figure | Omitted) -> None:
        if self._figures >= self._policy.figures:
            self._omitted_figures += 1
            return
        self._figures += 1
        (self._tail if self._tail else self._head).append(figure)

    def _figure(self, encoded: str) -> Figure | Omitted:
        policy = self._policy
        if len(encoded) * 3 // 4 > policy.figure_bytes + 1024:
            return Omitted(
                f"a figure of {len(encoded) * 3 // 4} bytes left out: the limit is {policy.figure_bytes}"
            )
        try:
            data = base64.b64decode(encoded)
        except (binascii.Error, ValueError):
            return Omitted("a figure that is no base64 left out")
        measured = measure(data)
        if measured is None:
            return Omitted("a figure that is no PNG or JPEG file left out")
        mime, width, height = measured
        if width * height > policy.figure_pixels:
            return Omitted(
                f"a figure of {width}x{height} pixels left out: the limit is {policy.figure_pixels}"
            )
        return Figure(data, mime, width, height)


def cell_error(content: Mapping[str, Any]) -> CellError:
    """The exception that an `error` message or a failed reply tells of."""
    stack = content.get("traceback")
    lines = [line for line in stack if isinstance(line, str)] if isinstance(stack, list) else []
    shown = _encodable(_COLOUR.sub("", "\n".join(lines)))
    found = _LINE.findall(shown)
    return CellError(
        name=_text(content.get("ename"), "Error"),
        message=_text(content.get("evalue"), "")[:_MESSAGE_CHARS],
        line=int(found[-1]) if found else None,
        traceback=_middle_cut(shown, _TRACEBACK_CHARS),
    )


def _text(value: object, default: str) -> str:
    return _encodable(_COLOUR.sub("", value)) if isinstance(value, str) else default


def _encodable(text: str) -> str:
    """Without halves of surrogate pairs, which no file and no endpoint takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _middle_cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


def _joined(outputs: Iterable[Output]) -> Iterable[Output]:
    """Neighbouring pieces of one stream as one."""
    name: Literal["stdout", "stderr", "result"] | None = None
    pieces: list[str] = []
    for output in outputs:
        if isinstance(output, Stream) and output.name == name:
            pieces.append(output.text)
            continue
        if name is not None:
            yield Stream(name, "".join(pieces))
        name, pieces = (output.name, [output.text]) if isinstance(output, Stream) else (None, [])
        if name is None:
            yield output
    if name is not None:
        yield Stream(name, "".join(pieces))
