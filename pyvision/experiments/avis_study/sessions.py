"""Who sits at the study page: each browser tab with its pseudonym and its desk; what is on it goes with the tab."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, replace

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.annotation import Desk
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.queue import Standing, Waiting
from pyvision.experiments.avis_study.toolbox import Toolbox

_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class Seat:
    """One tab. desk: None when there is no question left."""

    user: str
    desk: Desk | None = None


class Visitors:
    """Thread-safe. Raises RunFolderError when the log takes no line."""

    def __init__(self, waiting: Waiting, toolbox: Toolbox, log: Log) -> None:
        self.toolbox = toolbox
        self._waiting = waiting
        self._log = log
        self._seats: dict[str, Seat] = {}
        self._lock = threading.Lock()

    def sit(self, visitor: str, name: str) -> Seat:
        """A seat under this pseudonym, or one of our own making, with a question on it."""
        user = "".join(letter for letter in name if letter.isprintable()).strip()[:_NAME_CHARS]
        return self._seated(visitor, Seat(user or f"p-{secrets.token_hex(3)}"))

    def seat(self, visitor: str) -> Seat:
        """Raises ConfigError for somebody who has none, as after a restart of the server."""
        with self._lock:
            seat = self._seats.get(visitor)
        if seat is None:
            raise ConfigError("this page has no question any more; load it again")
        return seat

    def desk(self, visitor: str) -> Desk:
        """Raises ConfigError where no question lies."""
        desk = self.seat(visitor).desk
        if desk is None:
            raise ConfigError("there is no question left; the study is over")
        return desk

    def close(self, visitor: str, answer: str | None) -> Seat:
        """End what lies there, and put the next question on it. answer: None of somebody who gives up."""
        seat = self.seat(visitor)
        desk = self.desk(visitor)
        desk.close(answer)
        self._waiting.end(desk.user, desk.posed.id)
        return self._seated(visitor, seat)

    def standing(self, user: str) -> Standing:
        return self._waiting.standing(user)

    def leave(self, visitor: str) -> None:
        """The tab was closed; its question may go to somebody else."""
        with self._lock:
            self._seats.pop(visitor, None)
        self._waiting.leave(visitor)

    def _seated(self, visitor: str, seat: Seat) -> Seat:
        posed = self._waiting.next(seat.user, visitor)
        desk = Desk(posed, seat.user, self.toolbox, self._log) if posed else None
        seat = replace(seat, desk=desk)
        with self._lock:
            self._seats[visitor] = seat
        return seat
