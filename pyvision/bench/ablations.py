"""The ablations of an audit: wrappers around a sandbox, or changed questions, that change only what a strategy sees.

Strategies do not know about them. The state of the kernel stays true in every ablation: a figure that is replaced on
its way to the model keeps its own pixels under its `image_clue_k`, so that what a cell computes from it does not
change. Without execution there is no kernel at all.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.agent.episode import Sandbox, Session, find_libraries
from pyvision.agent.question_kernel import SandboxProxy, SessionProxy
from pyvision.bench.samples import Sample
from pyvision.bench.store import Store
from pyvision.errors import ConfigError
from pyvision.events import CellRun
from pyvision.text.prompts import render
from pyvision.text.sanitize import sanitize
from pyvision.trajectory import read_trajectory
from sandbox import CellResult, Figure, HostFunction, Stream, View

FiguresToSwap: TypeAlias = Mapping[str, Sequence[Figure]]
"""Sample id -> the figures that its cells displayed in the ablation with tools."""

_RESULT_CHARS = 8_000  # of the text of one cell, as in the code loop
MARGIN = 0.25  # of the box's sides, around an oracle crop


class NotRun:
    """A sandbox in which no cell runs: the model gets an empty result, as if the cell had printed nothing."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def libraries(self) -> tuple[str, ...]:
        return find_libraries(self._sandbox)  # the prompt names the same as where cells run

    def warm_up(self) -> None:
        """Does nothing: there is nothing to warm up."""

    def open(self, images: Mapping[str, bytes]) -> NotRun:
        return self

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        return CellResult("ok")

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        """Does nothing: no cell displays a figure."""

    def interrupt(self) -> None:
        """Does nothing: no cell runs."""

    def close(self) -> None:
        """Does nothing: there is no kernel."""


class WithheldResults(SandboxProxy):
    """Runs every cell, and replaces all that it returned, also an error, with a line which says so."""

    def wrap(self, session: Session) -> Session:
        return _WithheldSession(session)


class BlankFigures(SandboxProxy):
    """Replaces every figure that a cell displays with a grey one of the same size; text stays as printed."""

    def wrap(self, session: Session) -> Session:
        return _ReplacedFigures(session, lambda figure, number: blank(figure))


class SwappedFigures(SandboxProxy):
    """Replaces the k-th figure that the cells display with the k-th figure of another sample."""

    def __init__(self, sandbox: Sandbox, figures: Sequence[Figure]) -> None:
        """figures: at least one figure."""
        super().__init__(sandbox)
        self._figures = tuple(figures)

    def wrap(self, session: Session) -> Session:
        figures = self._figures
        return _ReplacedFigures(session, lambda figure, number: figures[number % len(figures)])


class OracleCrop(SandboxProxy):
    """Replaces every figure that a cell displays with the part of the first image that decides the answer.

    The part is cropped in the kernel before the model's first cell runs.
    """

    def __init__(self, sandbox: Sandbox, box: Sequence[float]) -> None:
        """box: [left, top, right, bottom] in pixels of the first image, from its top left."""
        super().__init__(sandbox)
        self._box = tuple(float(side) for side in box)

    def wrap(self, session: Session) -> Session:
        crops = session.run(_CROP.format(box=self._box, margin=MARGIN)).figures
        return _ReplacedFigures(session, lambda figure, number: crops[0]) if crops else session


@dataclass(frozen=True, slots=True)
class Ablation:
    """One way to answer the same samples.

    strategy: None for the audited one. around: returns the sandbox of one sample, made of the shared one, which it does
    not change. needs_box: it can only answer samples with `metadata["box"]`. needs_run: it shows figures or results of
    another experiment (`--swap-from`). ask: returns the samples as they are asked; the folder is that experiment's.
    """

    name: str
    purpose: str
    around: Callable[[Sandbox, Sample, FiguresToSwap], Sandbox]
    strategy: str | None = None
    needs_box: bool = False
    needs_run: bool = False
    ask: Callable[[Iterator[Sample], Path | None], Iterator[Sample]] = lambda samples, folder: samples

    def can_answer(self, sample: Sample) -> bool:
        return not self.needs_box or _box(sample) is not None


def blank(figure: Figure) -> Figure:
    """A grey PNG of the same size."""
    data = _grey_png(figure.width, figure.height)
    return Figure(data, "image/png", figure.width, figure.height)


def read_figures_to_swap(folder: Path) -> dict[str, tuple[Figure, ...]]:
    """Sample id -> the figures that its cells displayed in an experiment: the source of the ablation `swapped`.

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
    """The figures of the next sample, by id, that displayed any. Raises ConfigError if no other sample did."""
    others = sorted(key for key, figures in figures_to_swap.items() if figures and key != sample.id)
    if not others:
        raise ConfigError(
            f"sample {sample.id!r}: no other sample displayed a figure, so there is none to swap; "
            "audit more samples, or omit the ablation 'swapped'"
        )
    return figures_to_swap[next((key for key in others if key > sample.id), others[0])]


def add_results(samples: Iterator[Sample], folder: Path | None) -> Iterator[Sample]:
    """Each sample with what its cells returned in the first repeat of an experiment, without code or replies.

    Text goes into the context, and figures after the images. A sample in which no cell ran is unchanged. Raises
    ConfigError for a sample that is not in the experiment.
    """
    if folder is None:
        raise ConfigError(
            "ablation 'result_only' shows the results of another run; name it with --swap-from DIR"
        )
    with Store(folder) as store:
        runs = {
            record.sample_id: store.run_folder(record.sample_id)
            for record in store.records()
            if record.repeat == 0
        }
    for sample in samples:
        if sample.id not in runs:
            raise ConfigError(
                f"sample {sample.id!r}: not in {folder}; run the ablation 'tools' over the same samples first"
            )
        run = runs[sample.id]
        events = read_trajectory(run).events if run else ()
        results = [event.result for event in events if isinstance(event, CellRun)]
        yield _with_results(sample, results) if results else sample


class _WithheldSession(SessionProxy):
    """A session whose results hold only the status of the kernel, which a strategy must know."""

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        """Output is not passed on while the cell runs either."""
        return super().run(code, trace=trace, functions=functions)

    def change(self, result: CellResult) -> CellResult:
        status = "ok" if result.status == "error" else result.status
        notice = (Stream("stdout", render("ablations/withheld.md") + "\n"),)
        return CellResult(status, notice, seconds=result.seconds, state=result.state)


class _ReplacedFigures(SessionProxy):
    """A session that replaces the figures in its results, and restores them when they are defined."""

    def __init__(self, session: Session, substitute: Callable[[Figure, int], Figure]) -> None:
        """substitute: the figure and its number within the session, from 0 -> the figure that replaces it."""
        super().__init__(session)
        self._substitute = substitute
        self._count = 0
        self._originals: deque[Figure] = deque()

    def change(self, result: CellResult) -> CellResult:
        # a strategy defines the figures of a cell before it runs the next one
        self._originals = deque(result.figures)
        outputs = tuple(self._replace(each) if isinstance(each, Figure) else each for each in result.outputs)
        return replace(result, outputs=outputs)

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        """Define figures in the order in which they were displayed."""
        self._session.define({name: self._original(data) for name, data in images.items()}, views)

    def _replace(self, figure: Figure) -> Figure:
        number, self._count = self._count, self._count + 1
        return self._substitute(figure, number)

    def _original(self, data: bytes) -> bytes:
        return self._originals.popleft().data if self._originals else data


def _with_results(sample: Sample, results: Sequence[CellResult]) -> Sample:
    figures = tuple(figure.data for result in results for figure in result.figures)
    outputs, number = [], len(sample.images)
    for result in results:
        lines = [sanitize(result.text + _error_of(result), _RESULT_CHARS).strip()]
        for _ in result.figures:
            number += 1
            lines.append(render("ablations/figure.md", number=number))
        outputs.append("\n".join(line for line in lines if line) or render("code_loop/no_output.md"))
    text = render("ablations/results.md", results="\n\n".join(outputs))
    context = "\n\n".join(part for part in (sample.context, text) if part)
    return replace(sample, images=(*sample.images, *figures), context=context)


def _error_of(result: CellResult) -> str:
    return f"\n{result.error.name}: {result.error.message}" if result.error else ""


def _box(sample: Sample) -> Sequence[float] | None:
    box = sample.metadata.get("box")
    if not isinstance(box, list | tuple) or len(box) != 4:
        return None
    return box if all(isinstance(side, int | float) for side in box) else None


def _around_box(sandbox: Sandbox, sample: Sample) -> Sandbox:
    box = _box(sample)
    if box is None:
        raise ConfigError(
            f"sample {sample.id!r}: no metadata['box'] of four numbers; omit the ablation 'oracle'"
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


def _identity(sandbox: Sandbox, *_: Any) -> Sandbox:
    return sandbox


ABLATIONS: tuple[Ablation, ...] = (
    Ablation("direct", "question and images only", _identity, strategy="direct"),
    Ablation("tools", "the strategy unchanged", _identity),
    Ablation(
        "not_run",
        "the same conversation, but no cell runs",
        lambda sandbox, sample, figures_to_swap: NotRun(sandbox),
    ),
    Ablation(
        "format_only",
        "cells run, results are withheld",
        lambda sandbox, sample, figures_to_swap: WithheldResults(sandbox),
    ),
    Ablation(
        "result_only",
        "a plain answer, given the results",
        _identity,
        strategy="direct",
        needs_run=True,
        ask=add_results,
    ),
    Ablation("blank", "every figure is grey", lambda sandbox, sample, figures_to_swap: BlankFigures(sandbox)),
    Ablation(
        "swapped",
        "every figure is another sample's",
        lambda sandbox, sample, figures_to_swap: SwappedFigures(
            sandbox, figures_of_next_sample(sample, figures_to_swap)
        ),
        needs_run=True,
    ),
    Ablation(
        "oracle",
        "every figure is the part that decides the answer",
        lambda sandbox, sample, figures_to_swap: _around_box(sandbox, sample),
        needs_box=True,
    ),
)
