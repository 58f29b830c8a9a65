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
class Figure:
    """An image that the cell showed, as a fully verified PNG file; sizes are in pixels.

    Host functions receive large photos as JPEG files, verified as far as possible without decoding them.
    """

    data: bytes
    mime: Literal["image/png", "image/jpeg"]
    width: int
    height: int

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
