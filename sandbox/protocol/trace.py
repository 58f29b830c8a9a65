"""Turn the trace messages of one cell into a Trace, within the limits of the Policy.

The content is untrusted: types are checked, texts are cut, and invalid values are ignored.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Literal, TypeAlias, get_args

from sandbox.policy import Policy
from sandbox.results import Change, Trace, TraceEvent

_Kind: TypeAlias = Literal["call", "line", "return", "exception"]
_How: TypeAlias = Literal["starting", "new", "modified"]
_KINDS: tuple[_Kind, ...] = get_args(_Kind)
_HOWS: tuple[_How, ...] = get_args(_How)
_NAME_CHARS = 200
_LINE_CHARS = 500
_MAX_CHANGES = 200
_LARGEST = 10**9


class TraceCollector:
    """Collects the contents of one cell's `trace` messages in order; keeps the head and the tail of the events."""

    def __init__(self, policy: Policy) -> None:
        self._value_chars = policy.trace_value_chars
        self._half_events = policy.trace_events // 2
        self._half_chars = policy.trace_chars // 2
        self._head: list[TraceEvent] = []
        self._head_chars = 0
        self._tail: deque[tuple[TraceEvent, int]] = deque()
        self._tail_chars = 0
        self._omitted = 0
        self._stopped = False

    def add(self, content: object) -> None:
        """Add one message; never raises."""
        if not isinstance(content, dict):
            return
        events = content.get("events")
        self._leave_out(_number(content.get("omitted"), 0) or 0)
        for each in events if isinstance(events, list) else []:
            event = self._event(each)
            if event is not None:
                self._keep(event)
        self._stopped = self._stopped or content.get("stopped") is True

    def trace(self) -> Trace:
        """Everything kept so far."""
        tail = tuple(event for event, _ in self._tail)
        return Trace((*self._head, *tail), len(self._head), self._omitted, self._stopped)

    def _keep(self, event: TraceEvent) -> None:
        size = _size(event)
        full = len(self._head) >= self._half_events or self._head_chars + size > self._half_chars
        if not full and not self._tail and not self._omitted:
            self._head.append(event)
            self._head_chars += size
            return
        self._tail.append((event, size))
        self._tail_chars += size
        while len(self._tail) > self._half_events or self._tail_chars > self._half_chars:
            self._drop_first()
            self._omitted += 1

    def _leave_out(self, count: int) -> None:
        """Count events that the guest left out here. The tail is dropped, so that the only gap is after the head."""
        if count:
            self._omitted += count + len(self._tail)
            self._tail.clear()
            self._tail_chars = 0

    def _drop_first(self) -> None:
        self._tail_chars -= self._tail.popleft()[1]

    def _event(self, content: object) -> TraceEvent | None:
        if not isinstance(content, dict):
            return None
        kind = next((each for each in _KINDS if each == content.get("kind")), None)
        cell, line = _number(content.get("cell"), 1), _number(content.get("line"), 1)
        depth = _number(content.get("depth"), 0)
        function, source = content.get("function"), content.get("source")
        value, changes = content.get("value"), content.get("changes")
        if kind is None or cell is None or line is None or depth is None:
            return None
        if not (isinstance(function, str) and isinstance(source, str) and isinstance(changes, list)):
            return None
        if not (value is None or isinstance(value, str)):
            return None
        return TraceEvent(
            kind,
            function[:_NAME_CHARS],
            cell,
            line,
            depth,
            source[:_LINE_CHARS],
            tuple(found for each in changes[:_MAX_CHANGES] if (found := self._change(each))),
            value if value is None else value[: self._value_chars],
        )

    def _change(self, content: Any) -> Change | None:
        match content:
            case [str(name), str(value), str(how)]:
                known = next((each for each in _HOWS if each == how), None)
                return Change(name[:_NAME_CHARS], value[: self._value_chars], known) if known else None
        return None


def _number(value: object, least: int) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST:
        return value
    return None


def _size(event: TraceEvent) -> int:
    changes = sum(len(change.name) + len(change.value) for change in event.changes)
    return len(event.source) + len(event.value or "") + changes
