"""Run attacks in sessions, and judge on the host whether they escaped."""

from __future__ import annotations

import secrets
import struct
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from typing import TypeAlias

from sandbox.errors import SandboxError
from sandbox.escape_tests.attacks import Attack
from sandbox.escape_tests.canaries import Canaries
from sandbox.escape_tests.neighbour import AttackSession, Neighbour, Watch
from sandbox.results import CellError, CellResult, Figure
from sandbox.session import Closing

_LATE_S = 2.0  # by when `run` must return after a cell's limit and the grace period of its interrupt
_ALIVE = ("print(6 * 7)", "42")
_ANSWER_ATTEMPTS = 5


OpenSession: TypeAlias = Callable[[], AttackSession]
_MOST_PIXELS = 64_000_000  # the largest image that is decoded as a check
_RATIO = 200
_TEXTS = {b"tEXt", b"zTXt", b"iTXt"}
_END = b"IEND\xaeB`\x82"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_MOST_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The result of one attack. evidence: what escaped, or how the program ended."""

    attack: Attack
    contained: bool
    evidence: str
    seconds: float
    raised: str | None = None  # the name of the exception that ended the program


Verdicts: TypeAlias = dict[str, Future[AttackResult]]
"""By the id of the attack."""


class Runner(Closing):
    """Runs attacks one after the other, with its own canaries. Sessions are shared if the attacks allow it.

    open_session: called again for every session that an attack has broken. grace_s: how long a cell may take
    to stop after an interrupt.
    """

    def __init__(self, open_session: OpenSession, grace_s: float) -> None:
        self._open = open_session
        self._grace_s = grace_s
        self._canaries = Canaries()
        self._shared: AttackSession | None = None
        self._neighbour: Neighbour | None = None

    def run(self, attack: Attack) -> AttackResult:
        """Run it, and restore the canaries that it touched."""
        marker = secrets.token_hex(16)
        neighbour = self._get_neighbour()
        started = time.monotonic()
        try:
            results = [self._run_once(attack, marker, neighbour) for _ in range(attack.sessions)]
        except SandboxError as error:  # an attack may prevent new sessions
            return AttackResult(
                attack, contained=False, evidence=f"{error}", seconds=time.monotonic() - started
            )
        seconds = time.monotonic() - started
        escapes = [escape for _, escape in results] + [
            self._canaries.find_harm(marker),
            self._check_neighbour(neighbour),
        ]
        evidence = next(filter(None, escapes), None)
        last, _ = results[-1]
        raised = last.error.name if last.error else None
        return AttackResult(attack, evidence is None, evidence or _describe_end(last), seconds, raised)

    def close(self) -> None:
        """End every session and remove the canaries."""
        with ExitStack() as closing:  # all of them, even if one fails
            closing.callback(self._canaries.close)
            for session in (self._shared, self._neighbour):
                if session is not None:
                    closing.callback(session.close)

    def _run_once(self, attack: Attack, marker: str, neighbour: Neighbour) -> tuple[CellResult, str | None]:
        """The result of the program, and what escaped, if anything."""
        code = f"TARGET = {self._canaries.target!r}; MARKER = {marker!r}\n{attack.code}"
        received: list[object] = []
        functions = {"take": received.append} if attack.functions else None
        watching = neighbour.monitor() if attack.proof == "neighbour" else nullcontext(Watch())
        with self._session(attack) as session:
            with watching as watch:
                result = session.run(code, timeout_s=attack.timeout_s, functions=functions)
            escapes = (
                self._find_escape(result, marker),
                watch.harm,
                self._check_deadline(attack, result),
                self._check_result(attack, result, received),
                self._check_next_cell(attack, session, marker),
            )
        return result, next(filter(None, escapes), None)

    def _find_escape(self, result: CellResult, marker: str) -> str | None:
        error = result.error
        output = (result.text, result.stragglers, *((error.message, error.traceback) if error else ()))
        if marker in result.text.splitlines() or marker in result.stragglers.splitlines():
            return "it printed its marker"
        return self._canaries.find_secret("\n".join(output))

    def _check_result(self, attack: Attack, result: CellResult, received: list[object]) -> str | None:
        if attack.proof != "result":
            return None
        figures = [*result.figures, *(each for each in received if isinstance(each, Figure))]
        return find_flaw(figures, result.error)

    def _check_next_cell(self, attack: Attack, session: AttackSession, marker: str) -> str | None:
        """What is wrong with the next cell of the session, if the attack has one."""
        code, expected = attack.after, attack.expect
        if code is None and attack.proof == "deadline":
            code, expected = _ALIVE
        if code is None:
            return None
        for result in _results_until_answer(session, code, attack.timeout_s):
            if escape := self._find_escape(result, marker):
                return escape
        if expected is None or result.text.strip() == expected:
            return None
        output = result.text.strip() or (result.error.message if result.error else "")
        return f"the next cell printed {output[:60]!r}, not {expected!r}"

    def _check_deadline(self, attack: Attack, result: CellResult) -> str | None:
        limit_s = attack.timeout_s + self._grace_s + _LATE_S
        if attack.proof != "deadline" or result.seconds <= limit_s:
            return None
        return f"control came back after {result.seconds:.1f} s, not {limit_s:.1f}"

    def _check_neighbour(self, neighbour: Neighbour) -> str | None:
        harm = neighbour.find_harm()
        if harm is not None:
            self._neighbour = None
            neighbour.close()
        return harm

    @contextmanager
    def _session(self, attack: Attack) -> Iterator[AttackSession]:
        if attack.session == "own" or attack.sessions > 1:
            session = self._open()
            try:
                yield session
            finally:
                session.close()
            return
        if self._shared is None:
            self._shared = self._open()
        session = self._shared
        yield session
        if not _answers(session, *_ALIVE, attack.timeout_s):
            self._shared = None
            session.close()

    def _get_neighbour(self) -> Neighbour:
        if self._neighbour is None:
            self._neighbour = Neighbour(self._open(), self._canaries.neighbour_secret)
        return self._neighbour


@contextmanager
def run_in_background(runner: Runner, attacks: Iterable[Attack]) -> Iterator[Verdicts]:
    """Run the attacks in their order in a thread, and close the runner at the end."""
    with runner, ThreadPoolExecutor(1) as thread:
        try:
            yield {attack.id: thread.submit(runner.run, attack) for attack in attacks}
        finally:
            thread.shutdown(cancel_futures=True)


def _answers(session: AttackSession, code: str, expected: str, timeout_s: float) -> bool:
    *_, result = _results_until_answer(session, code, timeout_s)
    return result.text.strip() == expected


def _results_until_answer(session: AttackSession, code: str, timeout_s: float) -> Iterator[CellResult]:
    """Run a cell until it ends by itself, a few times at most.

    The first result may only report that the kernel had ended before, and on a busy machine a harmless cell can exceed
    the short limit of an attack.
    """
    for _ in range(_ANSWER_ATTEMPTS):
        yield (result := session.run(code, timeout_s=timeout_s))
        if result.status not in ("died", "timeout"):
            return


def _describe_end(result: CellResult) -> str:
    """How the program ended, in a few words."""
    if result.error is None:
        return "nothing came of it"
    return f"{result.error.name}: {result.error.message}".splitlines()[0][:200]


def find_flaw(figures: Iterable[Figure], error: CellError | None) -> str | None:
    """The first flaw, or None."""
    longest = max(map(len, (error.name, error.message, error.traceback))) if error else 0
    if longest > _MOST_CHARS:
        return f"it was handed an error of {longest:,} characters"
    found = next(filter(None, map(_flaw, figures)), None)
    return f"it was handed {found}" if found else None


def _flaw(figure: Figure) -> str | None:
    if max(figure.width, figure.height) > _RATIO * min(figure.width, figure.height):
        return f"a figure of {figure.width}x{figure.height} pixels"
    return _as_decoded(figure) or (_in_png(figure) if figure.mime == "image/png" else None)


def _as_decoded(figure: Figure) -> str | None:
    """Whether Pillow decodes it as what it claims to be."""
    from PIL import Image  # slow to load

    try:
        with warnings.catch_warnings(action="error"), Image.open(BytesIO(figure.data)) as image:
            found = (f"image/{(image.format or '?').lower()}", *image.size, getattr(image, "n_frames", 1))
            if found != (figure.mime, figure.width, figure.height, 1):
                return f"{figure!r}, which Pillow takes for {found}"
            if image.width * image.height <= _MOST_PIXELS:
                image.load()
    except Exception as error:  # noqa: BLE001 - a decoder of hostile bytes raises anything
        return f"{figure!r}, which Pillow cannot decode: {error}"[:200]
    return None


def _in_png(figure: Figure) -> str | None:
    """Flaws of a PNG file that Pillow ignores."""
    chunks = list(_chunks(figure.data))
    if figure.data.find(_END) + len(_END) != len(figure.data):
        return f"{figure!r} that does not stop at its end"
    if kinds := {kind for kind, _ in chunks} & _TEXTS:
        return f"{figure!r} with {len(kinds)} kinds of text in it"
    depth, colour = figure.data[24:26]
    expected = figure.height * (1 + (figure.width * depth * _CHANNELS[colour] + 7) // 8)
    pixels = b"".join(content for kind, content in chunks if kind == b"IDAT")
    if len(zlib.decompressobj().decompress(pixels, expected + 1)) != expected:
        return f"{figure!r} with more or fewer pixels than its header says"
    return None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length
