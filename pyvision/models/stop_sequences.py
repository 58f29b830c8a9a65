"""Stop strings: a reply ends at the first one, whichever way its pieces split it and whatever an endpoint does.

`</code>` counts only where it would end the reply's code (`replies.would_close`): one inside a Python string, a
thought or quotes is passed over. An endpoint that is sent `stop` knows nothing of strings and cuts there as well;
a configuration with `"stop": false` never sends it. What was passed over `_MOST_CLOSES` times is looked at no more,
so that the time a reply takes grows with its length and no faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyvision.errors import FormatError
from pyvision.text.replies import find_code, would_close
from pyvision.types import Reply

CLOSE = "</code>"
_MOST_CLOSES = 32


class StopCutter:
    """Takes the pieces of a reply and gives back what of them is certain to stand before the first stop string."""

    def __init__(self, stop: Sequence[str]) -> None:
        self.is_cut = False
        self._stop = tuple(string for string in stop if string)
        self._given: list[str] = []
        self._waiting = ""  # not given yet: it may be the beginning of a stop string
        self._passed = 0

    @property
    def text(self) -> str:
        """All that was given back so far."""
        return "".join(self._given)

    def feed(self, piece: str) -> str:
        """What of the text is new and certain; nothing more comes once it `is_cut`."""
        self._waiting += piece
        new: list[str] = []
        while not self.is_cut and (found := self._first()):
            start, stop = found
            self.is_cut = self._ends(stop, start)
            new.append(self._give(start if self.is_cut else start + len(stop)))
        if not self.is_cut:
            new.append(self._give(len(self._waiting) - self._hold()))
        return "".join(new)

    def rest(self) -> str:
        """What was held back, for a reply that is over."""
        return "" if self.is_cut else self._give(len(self._waiting))

    def seems_cut(self) -> bool:
        """Whether an endpoint that drops `</code>` seems to have cut the reply where it ends."""
        if CLOSE not in self._stop or not would_close(self.text):
            return False
        try:
            return find_code(self.text) is not None
        except FormatError:
            return True

    def _first(self) -> tuple[int, str] | None:
        starts = [(start, stop) for stop in self._stop if (start := self._waiting.find(stop)) >= 0]
        return min(starts, default=None)

    def _ends(self, stop: str, start: int) -> bool:
        if stop != CLOSE or self._passed == _MOST_CLOSES:
            return True
        self._passed += 1
        return would_close(self.text + self._waiting[:start])

    def _hold(self) -> int:
        """The length of the longest end of the waiting text that begins a stop string."""
        longest = min(len(self._waiting), max(map(len, self._stop), default=1) - 1)
        ends = (length for length in range(longest, 0, -1) if self._begins(self._waiting[-length:]))
        return next(ends, 0)

    def _begins(self, end: str) -> bool:
        return any(stop.startswith(end) for stop in self._stop)

    def _give(self, length: int) -> str:
        given, self._waiting = self._waiting[:length], self._waiting[length:]
        self._given.append(given)
        return given


def cut_at_stop(reply: Reply, stop: Sequence[str]) -> Reply:
    """The reply up to the first stop string in it; it comes back as it is where there is none."""
    cut = StopCutter(stop)
    text = cut.feed(reply.text)
    return replace(reply, text=text, finish="stop") if cut.is_cut else reply
