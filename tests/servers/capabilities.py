"""What an endpoint accepts, honours and sees: switches to take capabilities away from a model server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from PIL import Image

from tests.servers.conversation import Failure, Request, Turn

Boxes = Literal["pixels", "unit", "thousand"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A clean endpoint by default.

    refuses: body keys, or what `include` asks for, that get a 400 which names them. keeps_stop: a stop string stays
    at the end of the text. side_px: what it sees is scaled down to this longest side. pictures, request_bytes,
    context_tokens: limits that get the error which real endpoints give. boxes: how its model words coordinates.
    """

    refuses: frozenset[str] = frozenset()
    honours_stop: bool = True
    keeps_stop: bool = False
    honours_limit: bool = True
    gives_logprobs: bool = True
    streams: bool = True  # else a request to stream is answered in one piece, without a word
    sees: Literal["all", "the first", "none"] = "all"
    sees_later_turns: bool = True
    side_px: int | None = None
    boxes: Boxes = "pixels"
    writes_code: bool = True
    calls_tools: bool = True  # else it writes code into its text, although tools are offered
    in_results: Literal["seen", "ignored", "refused"] = "seen"  # pictures in the results of tools
    pictures: int | None = None
    request_bytes: int | None = None
    context_tokens: int | None = None
    keys: frozenset[str] | None = None  # None: every key is good, and none as well

    def refusal(self, request: Request) -> Failure | None:
        """Why this endpoint does not take the request, if it does not."""
        return next(self._refusals(request), None)

    def seen(self, request: Request) -> Request:
        """The request as the model behind the endpoint sees it: some pictures gone, the others scaled down."""
        turns = list(request.turns)
        first = next((i for i, turn in enumerate(turns) if turn.role == "user"), 0)
        for index, turn in enumerate(turns):
            hidden = self.sees == "none" or (index > first and not self.sees_later_turns)
            hidden = hidden or (turn.role == "tool" and self.in_results == "ignored")
            turns[index] = replace(turn, parts=tuple(self._show(turn, hidden=hidden)))
        return replace(request, turns=tuple(_only_first(turns) if self.sees == "the first" else turns))

    def _show(self, turn: Turn, *, hidden: bool) -> Iterator[str | bytes]:
        for part in turn.parts:
            if isinstance(part, str):
                yield part
            elif not hidden:
                yield scaled(part, self.side_px)

    def _refusals(self, request: Request) -> Iterator[Failure]:
        if self.keys is not None and request.key not in self.keys:
            yield Failure(401, f"Incorrect API key provided: {request.key}", "invalid_api_key")
        if self.request_bytes is not None and request.size > self.request_bytes:
            yield Failure(413, f"Request body of {request.size} bytes exceeds {self.request_bytes}")
        settings = (
            request.body.get(name, ()) for name in ("include", "generationConfig", "generation_config")
        )
        inner = [name for each in settings for name in each]
        for name in sorted(self.refuses & {*request.body, *inner}):
            usage = f"Unsupported parameter: '{name}' is not supported with this model."
            yield Failure(400, usage, "unsupported_parameter", name)
        if self.in_results == "refused" and any(
            turn.pictures for turn in request.turns if turn.role == "tool"
        ):
            yield Failure(
                400, "Invalid content type. image_url is only supported in user messages", "bad_request"
            )
        if self.pictures is not None and len(request.pictures) > self.pictures:
            yield Failure(
                400, f"At most {self.pictures} image(s) may be provided in one prompt.", "bad_request"
            )
        tokens = sum(turn.tokens for turn in request.turns)
        if self.context_tokens is not None and tokens > self.context_tokens:
            usage = (
                f"prompt is too long: maximum context length is {self.context_tokens} tokens, got {tokens}"
            )
            yield Failure(400, usage, "context_length_exceeded")


CLEAN = Capabilities()


def scaled(picture: bytes, side_px: int | None) -> bytes:
    """A PNG of the picture whose longest side is at most this; its own bytes where it is not longer."""
    with Image.open(io.BytesIO(picture)) as image:
        if side_px is None or max(image.size) <= side_px:
            return picture
        share = side_px / max(image.size)
        size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
        file = io.BytesIO()
        image.convert("RGB").resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0).save(file, "PNG")
        return file.getvalue()


def _only_first(turns: list[Turn]) -> list[Turn]:
    first = next((picture for turn in turns for picture in turn.pictures), None)
    return [
        replace(turn, parts=tuple(part for part in turn.parts if isinstance(part, str) or part is first))
        for turn in turns
    ]
