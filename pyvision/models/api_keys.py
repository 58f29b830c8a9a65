"""Several keys of one endpoint, used in turn; one that was refused is set aside while others work."""

from __future__ import annotations

import threading
from collections.abc import Sequence


class Keys:
    """Shared by threads. With no key at all, `None` is the one that is used."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys: tuple[str | None, ...] = tuple(keys) or (None,)
        self._refused: set[str | None] = set()
        self._turn = 0
        self._lock = threading.Lock()

    def next(self) -> str | None:
        """The key for the next request."""
        with self._lock:
            usable = [key for key in self._keys if key not in self._refused]
            self._turn += 1
            return usable[self._turn % len(usable)]

    def set_aside(self, key: str | None) -> bool:
        """Use this key no more. Returns whether another is left; where none is, all are tried anew."""
        with self._lock:
            self._refused.add(key)
            if len(self._refused) < len(self._keys):
                return True
            self._refused.clear()
            return False
