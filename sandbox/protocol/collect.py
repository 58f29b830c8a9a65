"""Turn the messages of one cell into a CellResult, within the limits of the Policy, as they arrive.

Every message is made by untrusted code: types are checked, invalid values are ignored, text is cut before it is
searched, and memory stays bounded however much arrives. A figure is a fully verified PNG file.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from sandbox.policy import Policy
from sandbox.protocol.figures import SHOWN_BYTES_PER_PIXEL, FigureReader, read_regions
from sandbox.protocol.png import InvalidImage
from sandbox.results import CellError, Figure, Omitted, Output, Stream

OMITTED = "application/x-omitted"
_NOT_PNG = ("image/jpeg", "image/gif", "image/webp")  # which the guest converts to PNG
_NOTE_CHARS = 300
_NAME_CHARS = 200
_MESSAGE_CHARS = 4_000
_TRACEBACK_CHARS = 8_000
_TRACEBACK_PARTS = 200
_SEARCHED = 4  # characters searched for each one kept, as colour codes are removed
_LINE = re.compile(r'^  File "<cell>", line (\d{1,9})', re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Collector:
    """Takes the iopub messages of one cell in order; keeps the head and the tail of its text."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._head: list[Output] = []
        self._head_chars_left = policy.output_chars - policy.output_chars // 2
        self._tail: deque[Output] = deque()
        self._tail_chars = 0
        self._omitted_chars = 0
        self._figures = 0
        self._omitted_figures = 0
        self._figure_bytes_left = policy.output_bytes
        self._reader = FigureReader(policy, SHOWN_BYTES_PER_PIXEL * policy.figure_pixels)
        self.error: CellError | None = None

    def add(self, message_type: str, content: Mapping[str, Any]) -> None:
        """Add one message; a kind without output is ignored."""
        match message_type:
            case "stream":
                self._add_stream(content)
            case "execute_result" | "display_data":
                self._add_display(content.get("data"), content.get("metadata"))
            case "error":
                self.error = cell_error(content)

    def omit(self, note: str) -> None:
        """Add a note that something is missing here."""
        self._add_figure(Omitted(note[:_NOTE_CHARS]))

    def outputs(self) -> tuple[Output, ...]:
        """Everything kept so far, in order, with a note where something was left out."""
        gap = [Omitted(f"{self._omitted_chars} characters left out")] if self._omitted_chars else []
        over = [Omitted(f"{self._omitted_figures} more figures left out")] if self._omitted_figures else []
        return (*_join_streams([*self._head, *gap, *self._tail]), *over)

    def _add_stream(self, content: Mapping[str, Any]) -> None:
        name, text = content.get("name"), content.get("text")
        if isinstance(text, str) and name in ("stdout", "stderr"):
            self._add_text("stdout" if name == "stdout" else "stderr", text)

    def _add_display(self, data: object, metadata: object) -> None:
        if not isinstance(data, dict):
            return
        encoded, note, text = data.get("image/png"), data.get(OMITTED), data.get("text/plain")
        other = next((mime for mime in _NOT_PNG if data.get(mime)), None)
        if isinstance(encoded, str):
            self._add_figure(encoded, metadata)
        elif other is not None:
            self.omit(f"left out: a figure of the type {other}; show it as PNG")
        elif isinstance(note, str):
            self.omit(note)
        elif isinstance(text, str):
            self._add_text("result", text + "\n")

    def _add_text(self, name: Literal["stdout", "stderr", "result"], text: str) -> None:
        head = text[: self._head_chars_left]
        tail = text[max(len(head), len(text) - self._policy.output_chars // 2) :]
        self._head_chars_left -= len(head)
        self._omitted_chars += len(text) - len(head) - len(tail)
        if head:
            self._head.append(Stream(name, replace_surrogates(head)))
        if tail:
            self._tail.append(Stream(name, replace_surrogates(tail)))
            self._tail_chars += len(tail)
            self._cut_tail()

    def _cut_tail(self) -> None:
        over = self._tail_chars - self._policy.output_chars // 2
        while over > 0:
            first = self._tail.popleft()
            if not isinstance(first, Stream):
                self._head.append(first)  # figures have their own limit
                continue
            cut = min(over, len(first.text))
            if cut < len(first.text):
                self._tail.appendleft(Stream(first.name, first.text[cut:]))
            over -= cut
            self._tail_chars -= cut
            self._omitted_chars += cut

    def _add_figure(self, data: str | Omitted, metadata: object = None) -> None:
        """Add a figure given as base64, or a note why it is missing. Figures over the limit are only counted."""
        if self._figures >= self._policy.figures:
            self._omitted_figures += 1
            return
        self._figures += 1
        figure = self._figure(data, metadata) if isinstance(data, str) else data
        (self._tail if self._tail else self._head).append(figure)

    def _figure(self, encoded: str, metadata: object) -> Figure | Omitted:
        try:
            figure = self._reader.read_png(self._decode_base64(encoded))
        except InvalidImage as reason:
            return Omitted(f"left out: a figure {reason}"[:_NOTE_CHARS])
        return replace(figure, regions=read_regions(metadata, figure))

    def _decode_base64(self, encoded: str) -> bytes:
        """Raises InvalidImage."""
        encoded = encoded.replace("\n", "")
        count = len(encoded) * 3 // 4 - encoded.endswith("=") - encoded.endswith("==")
        self._reader.check_bytes(count)
        self._figure_bytes_left -= count
        if self._figure_bytes_left < 0:
            raise InvalidImage(f"over the {self._policy.output_bytes} bytes of output of one cell")
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidImage("that is no base64") from None


def cell_error(content: Mapping[str, Any]) -> CellError:
    """The exception in an `error` message or a failed reply."""
    text = replace_surrogates(_COLOUR.sub("", "\n".join(_traceback(content.get("traceback")))))
    found = _LINE.findall(text)
    return CellError(
        name=_text(content.get("ename"), "Error", _NAME_CHARS),
        message=_text(content.get("evalue"), "", _MESSAGE_CHARS),
        line=int(found[-1]) if found else None,
        traceback=_cut_middle(text, _TRACEBACK_CHARS),
    )


def _traceback(stack: object) -> list[str]:
    """The first and last parts of a traceback, each cut in the middle."""
    if not isinstance(stack, list):
        return []
    half = _TRACEBACK_PARTS // 2
    ends = stack if len(stack) <= _TRACEBACK_PARTS else [*stack[:half], *stack[-half:]]
    return [_cut_middle(part, _SEARCHED * _TRACEBACK_CHARS) for part in ends if isinstance(part, str)]


def _text(value: object, default: str, most: int) -> str:
    if not isinstance(value, str):
        return default
    return replace_surrogates(_COLOUR.sub("", value[: _SEARCHED * most]))[:most]


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _cut_middle(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


def _join_streams(outputs: Iterable[Output]) -> Iterable[Output]:
    """Join adjacent pieces of the same stream."""
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
