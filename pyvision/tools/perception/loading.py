"""Load a network once in a process, on its first use, and let one thread at a time use it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class Once:
    """What `load` gives, loaded by the first who needs it. A load that failed is tried again by the next."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._loaded: Any = None
        self._lock = Lock()

    @contextmanager
    def held(self) -> Iterator[Any]:
        """The loaded thing, for this thread alone while the block runs: few networks are safe between threads."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            yield self._loaded


_SHARED: dict[Hashable, Once] = {}
_SHARED_LOCK = Lock()


def shared_loader(key: Hashable, load: Callable[[], Any]) -> Once:
    """The one of this key: tools are built anew for each question, what they load stays until the process ends."""
    with _SHARED_LOCK:
        return _SHARED.setdefault(key, Once(load))
