"""Thoughts of a model that its endpoint wants back: reasoning items and thinking blocks, sealed or signed by it.

They are kept beside the conversation, so that a Message stays plain. Each is found again by the turns before the
reply it came with and by the reply's text, as the endpoint gave it or as `replies.canonical_reply` words it. Thoughts
that are forgotten cost an endpoint's model its train of thought, and nothing else.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeAlias

from pyvision.text.replies import canonical_reply
from pyvision.types import Message

Items: TypeAlias = tuple[dict[str, Any], ...]

_MOST = 4096  # replies; a thought is some kilobytes


class ReasoningCache:
    """The thoughts of the latest replies of one model. Shared by threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], Items] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, messages: Sequence[Message], text: str, items: Sequence[dict[str, Any]]) -> None:
        """Keep what came with the reply `text` to these messages."""
        before = hash(tuple(messages))
        with self._lock:
            for spelled in {text, canonical_reply(text)}:
                self._kept[before, spelled] = tuple(items)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)

    def before(self, messages: Sequence[Message], turn: int) -> Items:
        """What came with the reply that is `messages[turn]`."""
        if not self._kept:
            return ()
        with self._lock:
            return self._kept.get((hash(tuple(messages[:turn])), messages[turn].text), ())
