"""The ablations of an audit: wrappers around a sandbox that change what a strategy gets to see, and nothing else.

No strategy knows of them. What the kernel holds stays true in every ablation: a figure that was replaced on its way to
the model is still itself under its `image_clue_k`, so that what a cell computes from it does not change. Without
execution there is no kernel at all.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.agent.episode import Sandbox, Session
from pyvision.bench.samples import Sample
from pyvision.bench.store import Store
from pyvision.errors import ConfigError
from pyvision.events import CellRun
from pyvision.trajectory import read_trajectory
from sandbox import CellResult, Figure, HostFunction

FiguresToSwap: TypeAlias = Mapping[str, Sequence[Figure]]
"""Sample id -> the figures that its cells showed in the ablation with tools."""

MARGIN = 0.25  # of the box's sides, around an oracle crop


class NotRun:
    """A sandbox in which no cell runs: the model gets an empty result, as if the cell had printed nothing."""

    def warm_up(self) -> None:
        """There is nothing to warm up."""

    def open(self, images: Mapping[str, bytes]) -> NotRun:
        return self

    def run(
        self, code: str, *, trace: bool = False, functions: Mapping[str, HostFunction] | None = None
    ) -> CellResult:
        return CellResult("ok")

    def define(self, images: Mapping[str, bytes]) -> None:
        """No figures come up, so nothing is ever defined."""

    def interrupt(self) -> None:
        """No cell runs."""

    def close(self) -> None:
        """There is no kernel."""


class BlankFigures:
    """Every figure that a cell shows is grey, in its own size; what the cell prints is left as it is."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        return _Replaced(self._sandbox.open(images), lambda figure, number: blank(figure))


class SwappedFigures:
    """Every figure that a cell shows is one that another sample's cells showed, the k-th one for the k-th."""

    def __init__(self, sandbox: Sandbox, donated: Sequence[Figure]) -> None:
        """donated: at least one figure."""
        self._sandbox = sandbox
        self._donated = tuple(donated)

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        donated = self._donated
        return _Replaced(self._sandbox.open(images), lambda figure, number: donated[number % len(donated)])


class OracleCrop:
    """Every figure that a cell shows is the part of the first image that decides the answer.

    The part is cut out in the kernel before the model's first cell runs.
    """

    def __init__(self, sandbox: Sandbox, box: Sequence[float]) -> None:
        """box: [left, top, right, bottom] in pixels of the first image, from its top left."""
        self._sandbox = sandbox
        self._box = tuple(float(side) for side in box)

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        session = self._sandbox.open(images)
        shown = session.run(_CROP.format(box=self._box, margin=MARGIN)).figures
        return _Replaced(session, lambda figure, number: shown[0]) if shown else session


@dataclass(frozen=True, slots=True)
class Ablation:
    """One way to answer the same samples.

    strategy: None for the one that is audited. around: gives the sandbox of one sample, without touching the one
    that it is given. needs_box: only samples with `metadata["box"]` can be answered in it.
    """

    name: str
    purpose: str
    around: Callable[[Sandbox, Sample, FiguresToSwap], Sandbox]
    strategy: str | None = None
    needs_box: bool = False

    def can_answer(self, sample: Sample) -> bool:
        return not self.needs_box or _box(sample) is not None


def blank(figure: Figure) -> Figure:
    """A grey PNG of the same size."""
    data = _grey_png(figure.width, figure.height)
    return Figure(data, "image/png", figure.width, figure.height)


def read_figures_to_swap(folder: Path) -> dict[str, tuple[Figure, ...]]:
    """Sample id -> the figures that its cells showed in an experiment: what the ablation `swapped` draws from.

    Raises ConfigError for a folder without an experiment.
    """
    found: dict[str, tuple[Figure, ...]] = {}
    with Store(folder) as store:
        for record in store.records():
            run = store.run_folder(record.sample_id, record.repeat) if record.cells else None
            events = read_trajectory(run).events if run else ()
            ran = (event for event in events if isinstance(event, CellRun))
            figures = tuple(figure for cell in ran for figure in cell.result.figures)
            if figures:
                found[record.sample_id] = figures
    return found


def figures_of_next_sample(sample: Sample, figures_to_swap: FiguresToSwap) -> Sequence[Figure]:
    """The figures of the next sample, by id, that showed any. Raises ConfigError where no other sample did."""
    others = sorted(key for key, figures in figures_to_swap.items() if figures and key != sample.id)
    if not others:
        raise ConfigError(
            f"sample {sample.id!r}: no other sample showed a figure, so there is none to swap; "
            "audit more samples, or leave out the ablation 'swapped'"
        )
    return figures_to_swap[next((key for key in others if key > sample.id), others[0])]


class _Replaced:
    """A session whose figures are replaced on the way out, and put back when they are defined."""

    def __init__(self, session: Session, instead: Callable[[Figure, int], Figure]) -> None:
        """instead: the figure and its number within the session, from 0 -> what is shown in its place."""
        self._session = session
        self._instead = instead
        self._shown = 0
        self._true: deque[Figure] = deque()

    def run(
        self, code: str, *, trace: bool = False, functions: Mapping[str, HostFunction] | None = None
    ) -> CellResult:
        result = self._session.run(code, trace=trace, functions=functions)
        self._true = deque(result.figures)  # a strategy defines the figures of a cell before the next cell
        outputs = tuple(self._replace(each) if isinstance(each, Figure) else each for each in result.outputs)
        return replace(result, outputs=outputs)

    def define(self, images: Mapping[str, bytes]) -> None:
        """Figures are defined in the order in which they were shown."""
        self._session.define({name: self._original(data) for name, data in images.items()})

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()

    def _replace(self, figure: Figure) -> Figure:
        number, self._shown = self._shown, self._shown + 1
        return self._instead(figure, number)

    def _original(self, data: bytes) -> bytes:
        return self._true.popleft().data if self._true else data


def _box(sample: Sample) -> Sequence[float] | None:
    box = sample.metadata.get("box")
    if not isinstance(box, list | tuple) or len(box) != 4:
        return None
    return box if all(isinstance(side, int | float) for side in box) else None


def _around_box(sandbox: Sandbox, sample: Sample) -> Sandbox:
    box = _box(sample)
    if box is None:
        raise ConfigError(
            f"sample {sample.id!r}: no metadata['box'] of four numbers; leave out the ablation 'oracle'"
        )
    return OracleCrop(sandbox, box)


def _grey_png(width: int, height: int) -> bytes:
    """A PNG of 8-bit grey, all 128."""
    rows = (b"\0" + b"\x80" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))


def _chunk(chunk: tuple[bytes, bytes]) -> bytes:
    kind, data = chunk
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_CROP = """\
def _show_box(image, box, margin):
    left, top, right, bottom = box
    wide, high = margin * (right - left), margin * (bottom - top)
    edges = max(0, left - wide), max(0, top - high), min(image.width, right + wide), min(image.height, bottom + high)
    display(image.crop(tuple(round(edge) for edge in edges)))

_show_box(image_clue_0, {box}, {margin})
del _show_box
"""


def _untouched(sandbox: Sandbox, *_: Any) -> Sandbox:
    return sandbox


ABLATIONS: tuple[Ablation, ...] = (
    Ablation("direct", "question and images only", _untouched, strategy="direct"),
    Ablation("tools", "the strategy as it is", _untouched),
    Ablation(
        "not_run",
        "the same conversation, but no cell runs",
        lambda sandbox, sample, figures_to_swap: NotRun(),
    ),
    Ablation("blank", "every figure is grey", lambda sandbox, sample, figures_to_swap: BlankFigures(sandbox)),
    Ablation(
        "swapped",
        "every figure is another sample's",
        lambda sandbox, sample, figures_to_swap: SwappedFigures(
            sandbox, figures_of_next_sample(sample, figures_to_swap)
        ),
    ),
    Ablation(
        "oracle",
        "every figure is the part that decides",
        lambda sandbox, sample, figures_to_swap: _around_box(sandbox, sample),
        needs_box=True,
    ),
)
