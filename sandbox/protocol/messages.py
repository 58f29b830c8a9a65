"""Jupyter messages to a kernel and from it. The guest chooses every byte that a kernel sends.

Covered: `read` never raises, and its result is at most a few times as large as the message: JSON is refused before it
is parsed if it is not ASCII, which `guest/kernel.py` writes, or if its objects would be much larger.
Not covered: the types and the sizes of the values in `content`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sandbox.policy import MIB
from sandbox.protocol.zmtp import Frame

_DELIMITER = b"<IDS|MSG>"  # between the route and the message
_ROUTE_PARTS = 2
_HEADER_BYTES = 64 * 1024
_DIGITS = 400
_MANY_BYTES = MIB  # of JSON; the parts of a longer text are counted
_MAX_PARTS = 1_200_000  # more than a piece of text can have (guest/streams.py)
_ESCAPED_BYTES = 13 * MIB  # as well: one escaped character can make a text take four bytes for each


@dataclass(frozen=True, slots=True)
class Received:
    """A message with a valid signature and shape. Its content is still untrusted."""

    kind: str
    parent: str | None  # the identity of the request that it belongs to
    content: dict[str, Any]
    buffers: Sequence[bytes] = ()


MALFORMED = Received("", None, {})  # the answer to no request


class Messages:
    """Signs the messages of the host, and checks those of the kernel."""

    def __init__(self, key: str, content_bytes: int = 40 * MIB) -> None:
        """content_bytes: the largest content that is read, without the buffers."""
        self._content_bytes = content_bytes
        self._mac = hmac.new(key.encode(), digestmod=hashlib.sha256)
        self._session = uuid.uuid4().hex
        self._count = 0

    def write(
        self, kind: str, content: dict[str, Any], buffers: Sequence[bytes] = ()
    ) -> tuple[str, list[Frame]]:
        """The id of the message, which answers name as their parent, and its parts."""
        self._count += 1
        header = {
            "msg_id": f"{self._session}_{os.getpid()}_{self._count}",
            "msg_type": kind,
            "username": "host",
            "session": self._session,
            "date": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "version": "5.4",
        }
        signed = [json.dumps(header).encode(), b"{}", b"{}", json.dumps(content).encode()]
        return header["msg_id"], [_DELIMITER, self._signature(signed), *signed, *buffers]

    def read(self, parts: list[Frame]) -> Received:
        """Parse a message; MALFORMED if it is invalid. Removes the parts from the list."""
        try:
            return self._read(parts)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return MALFORMED  # made by a cell, not by ipykernel

    def _read(self, parts: list[Frame]) -> Received:
        """Raises many kinds of errors. Jupyter's own parser would also turn texts into dates, and warn about some."""
        del parts[: parts.index(_DELIMITER, 0, _ROUTE_PARTS) + 1]
        signature, header, parent, _, content = parts[:5]
        if max(len(header), len(parent)) > _HEADER_BYTES or len(content) > self._content_bytes:
            return MALFORMED
        if _expands_too_much(content):
            return MALFORMED
        if not hmac.compare_digest(self._signature(parts[1:5]), signature):
            return MALFORMED
        del parts[:5]
        kind, identity = _parse(header)["msg_type"], _parse(parent).get("msg_id")
        text = content.decode("ascii")
        del content  # so that at most two copies exist
        parsed = _DECODER.decode(text)
        if not isinstance(kind, str) or not isinstance(parsed, dict):
            return MALFORMED
        parts.reverse()
        buffers = [bytes(parts.pop()) for _ in range(len(parts))]  # without a second copy of all at once
        return Received(kind, identity if isinstance(identity, str) else None, parsed, buffers)

    def _signature(self, signed: Sequence[Frame]) -> bytes:
        mac = self._mac.copy()
        for part in signed:
            mac.update(part)
        return mac.hexdigest().encode()


def _parse(part: Frame) -> Any:
    return _DECODER.decode(part.decode("ascii"))


def _expands_too_much(content: Frame) -> bool:
    """A few megabytes of `{},{},…` would become a gigabyte of objects."""
    if len(content) <= _MANY_BYTES:
        return False
    if len(content) > _ESCAPED_BYTES and b"\\u" in content:
        return True
    return sum(content.count(mark) for mark in (b",", b"{", b"[")) > _MAX_PARTS


def _integer(digits: str) -> int:
    """Parse an integer. Refuses long ones, for which Python takes quadratic time."""
    if len(digits) > _DIGITS:
        raise ValueError("a number that no kernel sends")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_integer)
