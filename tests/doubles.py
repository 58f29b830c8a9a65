"""Small real doubles for tests: a sandbox with canned results, and pictures drawn on the spot."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence

from PIL import Image

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.agent.strategy import Strategy
from pyvision.config.endpoints import EndpointLimits
from pyvision.events import Event, PassingEvent
from pyvision.models.cancellation import Cancellation
from pyvision.models.scripted import Scripted
from pyvision.types import Answer, Picture, Question, Reply
from sandbox import CellResult, Figure, HostFunction, Stream, View


def png(width: int = 40, height: int = 30, colour: str = "white") -> bytes:
    """A one-coloured PNG file."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, "PNG")
    return file.getvalue()


def picture(width: int = 40, height: int = 30, colour: str = "white") -> Picture:
    return Picture(png(width, height, colour), "image/png", width, height)


def figure(width: int = 40, height: int = 30, colour: str = "red") -> Figure:
    return Figure(png(width, height, colour), "image/png", width, height)


def printed(text: str) -> CellResult:
    return CellResult("ok", (Stream("stdout", text),))


class CannedSandbox:
    """A sandbox, and its one session, that gives canned results in turn and keeps what it was asked.

    live: what each of its cells prints while it runs.
    """

    def __init__(self, results: Sequence[CellResult] = ()) -> None:
        self.cells: list[str] = []
        self.images: dict[str, bytes] = {}
        self.views: dict[str, View] = {}
        self.libraries: tuple[str, ...] = ()
        self.opened = self.closed = 0
        self.on_run: Callable[[], None] = lambda: None
        self.live: Sequence[str] = ()
        self._results = list(results)

    def warm_up(self) -> None:
        """It is."""

    def open(self, images: Mapping[str, bytes]) -> CannedSandbox:
        self.opened += 1
        self.images |= images
        return self

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        self.cells.append(code)
        self.on_run()
        if on_output is not None:
            for text in self.live:
                on_output(text)
        return self._results.pop(0) if len(self._results) > 1 else self._results[0]

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        self.images |= images
        self.views |= views or {}

    def interrupt(self) -> None:
        """No cell of it takes time."""

    def close(self) -> None:
        self.closed += 1


class EpisodeHarness:
    """A strategy driven by scripted replies and canned cells; keeps everything that happened.

    `events` are those that a trajectory would hold, `passing` the others; `on_piece` is called with each of those.
    """

    def __init__(
        self,
        replies: Sequence[str | Reply | Exception],
        results: Sequence[CellResult] = (CellResult("ok"),),
        *,
        question: Question | None = None,
        limits: Limits | None = None,
        accepts: EndpointLimits | None = None,
        model: Scripted | None = None,
    ) -> None:
        self.model = model or Scripted(replies)
        self.sandbox = CannedSandbox(results)
        self.events: list[Event] = []
        self.passing: list[Event] = []
        self.on_piece: Callable[[], None] = lambda: None
        self.question = question or Question("How many?", (picture(),))
        self.cancellation = Cancellation()
        self.episode = Episode(
            self.question,
            {"default": self.model},
            limits or Limits(),
            self.sandbox,
            self._watch,
            accepts={"default": accepts or EndpointLimits()},
            cancellation=self.cancellation,
        )

    def _watch(self, event: Event) -> None:
        if isinstance(event, PassingEvent):
            self.passing.append(event)
            self.on_piece()
        else:
            self.events.append(event)

    def solve(self, strategy: Strategy) -> Answer:
        return strategy.solve(self.question, self.episode)

    def request_text(self, turn: int) -> str:
        """The text of the last message of the model's request number `turn`, counted from 0."""
        return self.model.requests[turn][-1].text
