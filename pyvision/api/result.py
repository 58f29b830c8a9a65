"""The result of a question: its answer, its cost, its cells and figures; also as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.errors import EndReason
from pyvision.events import CellRun, Event, ImageDefined, RunEnded, RunStarted, ToolRun
from pyvision.trajectory import read_trajectory
from pyvision.types import Evidence, Outcome, Question, Source, Usage

if TYPE_CHECKING:
    from pyvision.images.objects import PilImage

_UNFINISHED = Outcome(
    None, "interrupted", "the recording is incomplete: the run was killed or is still going"
)


def load(folder: str | Path) -> RunResult:
    """The result of a recorded run. Raises RunFolderError, which names the file and the problem."""
    path = Path(folder)
    trajectory = read_trajectory(path)
    return RunResult(trajectory.events, path, trajectory.note)


@dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """The result of one question, read from its recorded events.

    folder: where the run is kept, if it is. note: what is wrong with a damaged recording.
    """

    events: tuple[Event, ...]
    folder: Path | None = None
    note: str | None = None

    @property
    def question(self) -> Question:
        return next((event.question for event in self.events if isinstance(event, RunStarted)), Question(""))

    @property
    def outcome(self) -> Outcome:
        ended = self._ended
        return ended.outcome if ended else _UNFINISHED

    @property
    def answer(self) -> str | None:
        """The answer, or None; then `end_reason` and `error` say why."""
        return self.outcome.answer

    @property
    def end_reason(self) -> EndReason:
        return self.outcome.end_reason

    @property
    def error(self) -> str | None:
        """What went wrong; with an answer, what the user has to know about it."""
        return self.outcome.error

    @property
    def is_last_resort(self) -> bool:
        """Whether the answer is the whole last reply, which had none in a known form."""
        return self.outcome.is_last_resort

    @property
    def usage(self) -> Usage:
        """The tokens of all replies."""
        return self._ended.usage if self._ended else Usage()

    @property
    def cost(self) -> float | None:
        """By the price table; None without one."""
        return self._ended.cost if self._ended else None

    @property
    def seconds(self) -> float:
        return self._ended.seconds if self._ended else 0.0

    @property
    def turns(self) -> int:
        return self._ended.turns if self._ended else 0

    @property
    def cells(self) -> tuple[CellRun, ...]:
        """Every cell in order: its `code`, and in `result` its status, text, error and figures."""
        return tuple(event for event in self.events if isinstance(event, CellRun))

    @property
    def figures(self) -> tuple[PilImage, ...]:
        """The figures that cells displayed, in order, as PIL images: image_clue_N, where N follows the inputs."""
        from pyvision.images.objects import to_pil

        return tuple(to_pil(event.picture) for event in self.events if isinstance(event, ImageDefined))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence of the answer, if the strategy asks for it: `options={"evidence": "true"}`."""
        return self.outcome.evidence

    @property
    def findings(self) -> Mapping[str, Any]:
        """What the strategy found besides the answer, as plain values."""
        return self.outcome.findings

    @property
    def sources(self) -> tuple[Source, ...]:
        """What tools found, each source once."""
        return tuple(dict.fromkeys(self._sources()))

    def __repr__(self) -> str:
        where = f", folder={str(self.folder)!r}" if self.folder else ""
        return f"RunResult({self.end_reason}, answer={self.answer!r}, {len(self.cells)} cells{where})"

    def _repr_html_(self) -> str:
        from pyvision.api.html import run_html

        return run_html(self.events, self.folder)

    @property
    def _ended(self) -> RunEnded | None:
        return next((event for event in reversed(self.events) if isinstance(event, RunEnded)), None)

    def _sources(self) -> Iterator[Source]:
        for event in self.events:
            if isinstance(event, ToolRun):
                yield from event.observation.sources
