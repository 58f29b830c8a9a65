"""Pack a conversation for a model: fit its images, and evict old figures where there are too many.

The conversation of a strategy is only ever appended to, and so is what is sent, until a limit of the endpoint is met.
Then a line with the name replaces each of the oldest figures, down to half the limit at once, so that the endpoint's
prompt cache is invalidated once and not with every turn. Figures of the last turn are left out only if necessary, and
the images of the question last of all. What was left out stays out; the model can show `image_clue_k` again.

Where an endpoint takes no picture in the result of a tool call, each moves into a turn of the user right after all
results, under its name, and the result says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import LimitReached, ModelError
from pyvision.events import Sent
from pyvision.images.fit import Fitted, fit
from pyvision.images.pixels import file_hash
from pyvision.text.prompts import render
from pyvision.types import Message, Part, Picture, Text, ToolCall

_TAG = re.compile(r"<image_clue_(\d+)>\s*\Z")  # precedes a picture that has a handle
_PART_BYTES = 100  # of JSON around each part
_FILLED = 0.95  # the share of a request's bytes that we fill: what we count is not quite what is sent
_KEPT = 0.5  # the share of a limit that the figures of earlier turns are cut down to
_MOST_PICTURES = re.compile(r"at most (\d+) image|you set image=(\d+)", re.IGNORECASE)  # vLLM, LMDeploy


@dataclass(frozen=True, slots=True)
class PackedRequest:
    """One request as it goes out; `evicted` are the handles of the pictures that were just evicted."""

    messages: tuple[Message, ...]
    sent: tuple[Sent, ...]
    size_bytes: int
    evicted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a picture stands in a conversation, and the number of its handle, if it has one."""

    turn: int
    message: Message
    part: int
    picture: Picture
    number: int | None

    @property
    def name(self) -> str | None:
        return None if self.number is None else f"image_clue_{self.number}"


class ContextWindow:
    """Packs the conversations of one role for the endpoint of its model; every picture is fitted and hashed once.

    originals: the k of each `image_clue_k` that a person gave.
    """

    def __init__(self, accepts: EndpointLimits, originals: Collection[int]) -> None:
        self.accepts = accepts
        self._originals = originals
        self._fitted: dict[Picture, tuple[Fitted, str]] = {}
        self._evicted: dict[Message, frozenset[int]] = {}

    def pack(self, messages: Sequence[Message]) -> PackedRequest:
        """The request for this conversation. Raises LimitReached when no picture is left to evict."""
        leaving = self._surplus(messages)
        self._leave_out(leaving)
        places = self._render(messages)
        size = self._size(messages, places)
        self._check(len(places), size)
        packed = tuple(self._pack(message) for message in messages)
        is_moved = self.accepts.image_placement == "after_result"
        return PackedRequest(
            tuple(after_results(packed)) if is_moved else packed,
            tuple(self._describe_sent(place) for place in places),
            size,
            tuple(place.name or "" for place in leaving),
        )

    def fit(self, picture: Picture) -> Fitted:
        """The picture as it is sent. Raises ImageError."""
        return self._fit(picture)[0]

    def evict(self, error: ModelError, messages: Sequence[Message]) -> bool:
        """Whether the conversation may be sent again, smaller:
        the endpoint told its limit, or the conversation is too long for it.
        """
        if limit := _MOST_PICTURES.search(str(error)):
            pictures = int(limit[1] or limit[2])
            is_news = pictures < self.accepts.pictures
            self.accepts = replace(self.accepts, pictures=min(pictures, self.accepts.pictures))
            return is_news
        if error.kind != "context":
            return False
        named = [place for place in self._render(messages) if place.number is not None]
        first = min((self._rank(place, messages) for place in named), default=0)
        leaving = [place for place in named if self._rank(place, messages) == first]
        self._leave_out(leaving)
        return bool(leaving)

    def _surplus(self, messages: Sequence[Message]) -> list[_Place]:
        """The pictures to evict; none while the conversation is within the limits."""
        places = self._render(messages)
        count, size = len(places), self._size(messages, places)
        if self._fits(count, size, 1.0):
            return []
        leaving: list[_Place] = []
        named = (place for place in places if place.number is not None)
        for place in sorted(named, key=lambda place: self._rank(place, messages)):
            share = _KEPT if self._rank(place, messages) == 0 else 1.0
            if self._fits(count, size, share):
                break
            leaving.append(place)
            count, size = count - 1, size - self._picture_bytes(place.picture)
        return leaving

    def _rank(self, place: _Place, messages: Sequence[Message]) -> int:
        """The order of eviction: figures of earlier turns (0), of the last turn (1), images of the question (2)."""
        if place.number in self._originals:
            return 2
        return int(all(message.role == "tool" for message in messages[place.turn : -1]))

    def _fits(self, count: int, size: int, share: float) -> bool:
        accepts = self.accepts
        return count <= share * accepts.pictures and size <= share * _FILLED * accepts.request_bytes

    def _check(self, count: int, size: int) -> None:
        if self._fits(count, size, 1.0):
            return
        accepts, way = self.accepts, "give fewer or smaller images, or a model that accepts more"
        if count > accepts.pictures:
            what = f"{count} images do not fit into one request of at most {accepts.pictures}"
            raise LimitReached("picture_limit", f"{what}; {way}")
        what = f"{size:,} bytes do not fit into one request of at most {accepts.request_bytes:,}"
        raise LimitReached("byte_limit", f"{what}; {way}")

    def _render(self, messages: Sequence[Message]) -> list[_Place]:
        return [
            place
            for place in _places(messages)
            if place.part not in self._evicted.get(place.message, frozenset())
        ]

    def _leave_out(self, places: Sequence[_Place]) -> None:
        for place in places:
            self._evicted[place.message] = self._evicted.get(place.message, frozenset()) | {place.part}

    def _pack(self, message: Message) -> Message:
        if not any(isinstance(part, Picture) for part in message.parts):
            return message
        gone = self._evicted.get(message, frozenset())
        return replace(
            message,
            parts=tuple(
                self._line(message, at) if at in gone else self._as_sent(part)
                for at, part in enumerate(message.parts)
            ),
        )

    def _as_sent(self, part: Part) -> Part:
        return self._fit(part)[0].picture if isinstance(part, Picture) else part

    def _line(self, message: Message, at: int) -> Text:
        """The text in place of an evicted picture."""
        picture = message.parts[at]
        assert isinstance(picture, Picture)
        name = f"image_clue_{_number(message.parts, at)}"
        return Text(render("episode/left_out.md", name=name, width=picture.width, height=picture.height))

    def _describe_sent(self, place: _Place) -> Sent:
        fitted, sha256 = self._fit(place.picture)
        sent = fitted.picture
        where = self.accepts.image_placement if place.message.role == "tool" else "turn"
        return Sent(place.name, sha256, sent.width, sent.height, fitted.scale_x, fitted.scale_y, where)

    def _fit(self, picture: Picture) -> tuple[Fitted, str]:
        """Cheap to repeat, because Python caches the hash of the bytes of a picture."""
        if picture not in self._fitted:
            fitted = fit(picture, self.accepts.fit)
            self._fitted[picture] = fitted, file_hash(fitted.picture)
        return self._fitted[picture]

    def _size(self, messages: Sequence[Message], places: Sequence[_Place]) -> int:
        parts = [part for message in messages for part in message.parts]
        text = sum(map(_text_bytes, parts))
        pictures = sum(self._picture_bytes(place.picture) for place in places)
        return text + pictures + _PART_BYTES * len(parts)

    def _picture_bytes(self, picture: Picture) -> int:
        return -(-len(self._fit(picture)[0].picture.data) // 3) * 4


def after_results(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with the pictures of tool results in a turn of the user after the last result of each turn."""
    waiting: list[Part] = []
    for message in messages:
        if waiting and message.role != "tool":
            follows = message.parts if message.role == "user" else ()
            yield Message("user", (*waiting, *follows))
            waiting = []
            if message.role == "user":
                continue
        if message.role == "tool":
            waiting += _name_pictures(message.parts)
            yield replace(message, parts=tuple(_pointer(part) for part in message.parts))
        else:
            yield message
    if waiting:
        yield Message("user", tuple(waiting))


def _name_pictures(parts: Sequence[Part]) -> Iterator[Part]:
    for at, part in enumerate(parts):
        number = _number(parts, at)
        if not isinstance(part, Picture):
            continue
        if number is None:
            yield part
        else:
            yield from (Text(f"<image_clue_{number}>\n"), part, Text(f"\n</image_clue_{number}>\n"))


def _pointer(part: Part) -> Part:
    return Text(render("episode/after_results.md")) if isinstance(part, Picture) else part


def _text_bytes(part: Part) -> int:
    match part:
        case Text(text=text) | ToolCall(arguments=text):
            return len(text.encode("utf-8", "replace"))
        case Picture():
            return 0


def _places(messages: Sequence[Message]) -> Iterator[_Place]:
    for turn, message in enumerate(messages):
        for at, part in enumerate(message.parts):
            if isinstance(part, Picture):
                yield _Place(turn, message, at, part, _number(message.parts, at))


def _number(parts: Sequence[Part], at: int) -> int | None:
    """The k of the `<image_clue_k>` right before a picture."""
    before = parts[at - 1] if at else None
    tag = _TAG.search(before.text) if isinstance(before, Text) else None
    return int(tag[1]) if tag else None
