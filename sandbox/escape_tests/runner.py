"""Run attacks in sessions, and judge from the host whether anything got out of them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from sandbox.errors import SandboxError
from sandbox.escape_tests.attacks import Attack
from sandbox.escape_tests.canaries import Canaries
from sandbox.escape_tests.handed import flaw
from sandbox.escape_tests.neighbour import Neighbour, Opened, Watch
from sandbox.results import CellResult, Figure

_LATE_S = 2.0  # in which control must be back after a cell's limit and the grace of its interruption
_ALIVE = ("print(6 * 7)", "42")


OpenSession: TypeAlias = Callable[[float], Opened]  # given the limit of its cells, in seconds


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one attack went. evidence: what got out, or why the program got nowhere."""

    attack: Attack
    contained: bool
    evidence: str
    seconds: float
    raised: str | None = None  # the name of the exception that ended the program


class Runner:
    """Runs one attack after the other, with canaries of its own. Sessions are shared where attacks allow it.

    open_session: is called again for every session that an attack has spoiled. grace_s: how long a cell may take
    to stop once it is interrupted.
    """

    def __init__(self, open_session: OpenSession, grace_s: float) -> None:
        self._open = open_session
        self._grace_s = grace_s
        self._canaries = Canaries()
        self._shared: dict[float, Opened] = {}
        self._neighbours: dict[float, Neighbour] = {}

    def run(self, attack: Attack) -> Verdict:
        """Try it, and remove what it left behind."""
        marker = secrets.token_hex(16)
        neighbour = self._neighbour(attack.timeout_s)
        started = time.monotonic()
        try:
            results = [self._once(attack, marker, neighbour) for _ in range(attack.sessions)]
        except SandboxError as error:  # an attack can be that nobody gets a session any more
            return Verdict(attack, contained=False, evidence=f"{error}", seconds=time.monotonic() - started)
        seconds = time.monotonic() - started
        told = [told for _, told in results] + [self._canaries.harm(marker), self._harm(neighbour, attack)]
        evidence = next(filter(None, told), None)
        last, _ = results[-1]
        raised = last.error.name if last.error else None
        return Verdict(attack, evidence is None, evidence or _reason(last), seconds, raised)

    def close(self) -> None:
        """End every session and remove the canaries."""
        with ExitStack() as closing:  # each of them, whatever becomes of the others
            closing.callback(self._canaries.close)
            for session in self._shared.values():
                closing.callback(session.close)
            for neighbour in self._neighbours.values():
                closing.callback(neighbour.close)

    def _once(self, attack: Attack, marker: str, neighbour: Neighbour) -> tuple[CellResult, str | None]:
        """The result of the program, and what got out, if anything did."""
        code = f"TARGET = {self._canaries.target!r}; MARKER = {marker!r}\n{attack.code}"
        taken: list[object] = []
        functions = {"take": taken.append} if attack.functions else None
        watching = neighbour.watched() if attack.proof == "neighbour" else nullcontext(Watch())
        with self._session(attack) as session:
            with watching as watch:
                result = session.run(code, functions=functions)
            told = (
                self._escape(result, marker),
                watch.harm,
                self._late(attack, result),
                self._handed(attack, result, taken),
                self._next(attack, session, marker),
            )
        return result, next(filter(None, told), None)

    def _escape(self, result: CellResult, marker: str) -> str | None:
        error = result.error
        said = (result.text, result.stragglers, *((error.message, error.traceback) if error else ()))
        if marker in result.text.splitlines() or marker in result.stragglers.splitlines():
            return "it printed its marker"
        return self._canaries.told_in("\n".join(said))

    def _handed(self, attack: Attack, result: CellResult, taken: list[object]) -> str | None:
        if attack.proof != "result":
            return None
        figures = [*result.figures, *(each for each in taken if isinstance(each, Figure))]
        return flaw(figures, result.error)

    def _next(self, attack: Attack, session: Opened, marker: str) -> str | None:
        """What is wrong with the next cell of the session, if it is asked for."""
        code, expected = attack.after, attack.expect
        if code is None and attack.proof == "deadline":
            code, expected = _ALIVE
        if code is None:
            return None
        result = _told(session, code)
        if escape := self._escape(result, marker):
            return escape
        if expected is None or result.text.strip() == expected:
            return None
        said = result.text.strip() or (result.error.message if result.error else "")
        return f"the next cell printed {said[:60]!r}, not {expected!r}"

    def _late(self, attack: Attack, result: CellResult) -> str | None:
        limit_s = attack.timeout_s + self._grace_s + _LATE_S
        if attack.proof != "deadline" or result.seconds <= limit_s:
            return None
        return f"control came back after {result.seconds:.1f} s, not {limit_s:.1f}"

    def _harm(self, neighbour: Neighbour, attack: Attack) -> str | None:
        harm = neighbour.harm()
        if harm is not None:
            self._neighbours.pop(attack.timeout_s).close()
        return harm

    @contextmanager
    def _session(self, attack: Attack) -> Iterator[Opened]:
        if attack.session == "own" or attack.sessions > 1:
            session = self._open(attack.timeout_s)
            try:
                yield session
            finally:
                session.close()
            return
        if attack.timeout_s not in self._shared:
            self._shared[attack.timeout_s] = self._open(attack.timeout_s)
        session = self._shared[attack.timeout_s]
        yield session
        if not _answers(session, *_ALIVE):
            self._shared.pop(attack.timeout_s).close()

    def _neighbour(self, timeout_s: float) -> Neighbour:
        if timeout_s not in self._neighbours:
            self._neighbours[timeout_s] = Neighbour(self._open(timeout_s), self._canaries.neighbour_secret)
        return self._neighbours[timeout_s]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def _answers(session: Opened, code: str, expected: str) -> bool:
    return _told(session, code).text.strip() == expected


def _told(session: Opened, code: str) -> CellResult:
    """The result of a cell; once more where the first one only says that the kernel had ended before it."""
    result = session.run(code)
    return session.run(code) if result.status == "died" else result


def _reason(result: CellResult) -> str:
    """Why the program got nowhere, in a few words."""
    if result.error is None:
        return "nothing came of it"
    return f"{result.error.name}: {result.error.message}".splitlines()[0][:200]
