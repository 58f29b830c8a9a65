"""What a cell did, as plain frozen values: everything that guest code can cause is represented here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["ok", "error", "timeout", "died"]
KernelState: TypeAlias = Literal["kept", "lost"]


@dataclass(frozen=True, slots=True)
class Stream:
    """Text the cell wrote to one of its streams, or (`result`) the repr of its last expression."""

    name: Literal["stdout", "stderr", "result"]
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a figure that shows a named image, as the code in the kernel claims: for display only.

    box: left, top, right, bottom in pixels of the figure. matrix: (a, b, c, d, e, f) maps a position (x, y) in the
    figure to (a·x + b·y + c, d·x + e·y + f) in the image. Positions count from the top left corner.
    """

    name: str
    box: tuple[float, float, float, float]
    matrix: tuple[float, float, float, float, float, float]

    @property
    def target(self) -> tuple[float, float, float, float]:
        """The box in the image around what the region shows."""
        (left, top, right, bottom), (a, b, c, d, e, f) = self.box, self.matrix
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        xs, ys = [a * x + b * y + c for x, y in corners], [d * x + e * y + f for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


@dataclass(frozen=True, slots=True)
class View:
    """How an image was shown to the author of the cells, for the helpers in the kernel.

    shown: width and height of the copy that was sent, and its scale on both axes: shown = image · scale.
    regions: None for an original; for a figure, what it shows.
    """

    shown: tuple[float, float, float, float] | None = None
    regions: tuple[Region, ...] | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """An image that the cell showed, as a fully verified PNG file; sizes are in pixels. regions: what it shows.

    Host functions receive large photos as JPEG files, verified as far as possible without decoding them.
    """

    data: bytes
    mime: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    regions: tuple[Region, ...] = ()

    def __repr__(self) -> str:
        return f"Figure({self.mime}, {self.width}x{self.height}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True)
class Omitted:
    """Output that exceeded a limit of the Policy and was left out at this place."""

    note: str


Output: TypeAlias = Stream | Figure | Omitted


@dataclass(frozen=True, slots=True)
class CellError:
    """The exception that ended a cell. `line` counts from 1 in the cell; `traceback` is short, without colour codes."""

    name: str
    message: str
    line: int | None = None
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that changed since the previous event, with its abbreviated `repr`.

    how: `starting` variables existed before the call or the cell, `new` ones did not.
    """

    name: str
    value: str
    how: Literal["starting", "new", "modified"]


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One step of a traced cell. The changes are those since the previous event of the same call.

    function: `<module>` is the cell itself, which is recorded as one call.
    cell: the number of the cell that defines the function; an earlier one's has a lower number.
    line: counts from 1 in that cell, and `source` is that line, indentation included; it has not run yet.
    depth: 0 for the cell itself, 1 for a function that it calls, and so on.
    value: what a call returned or yielded; the exception; None for a call that an exception ended.
    """

    kind: Literal["call", "line", "return", "exception"]
    function: str
    cell: int
    line: int
    depth: int
    source: str
    changes: tuple[Change, ...] = ()
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """What a cell did, line by line.

    omitted: events left out after the first `head`, because a limit of the Policy was reached.
    stopped: whether the cell continued untraced after the last event: after `Policy.trace_steps` of them, an endless
        recursion, or a call of `sys.settrace`.
    """

    events: tuple[TraceEvent, ...] = ()
    head: int = 0
    omitted: int = 0
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of one cell. Output and figures up to its end are kept whatever the status.

    status: ok · error (it raised) · timeout (ran past its limit) · died (the kernel process ended).
    state: whether the variables still exist. After `lost` a new kernel holds only the images.
    """

    status: Status
    outputs: tuple[Output, ...] = ()
    error: CellError | None = None
    seconds: float = 0.0
    state: KernelState = "kept"
    trace: Trace | None = None
    stragglers: str = (
        ""  # late output: what threads and processes of earlier cells wrote since the previous result
    )

    @property
    def text(self) -> str:
        """Everything the cell wrote, in order, without figures, with a note where something was left out."""
        return "".join(_text(output) for output in self.outputs)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(output for output in self.outputs if isinstance(output, Figure))


def _text(output: Output) -> str:
    match output:
        case Stream(text=text):
            return text
        case Omitted(note=note):
            return f"[{note}]\n"
        case Figure():
            return ""
