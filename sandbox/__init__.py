"""Untrusted Python in a persistent, isolated Jupyter kernel. Knows nothing of models or questions."""

from sandbox.errors import (
    ImageError,
    InterpreterError,
    IsolationError,
    KernelStartError,
    SandboxBusy,
    SandboxError,
    SessionClosed,
)
from sandbox.policy import Policy
from sandbox.results import (
    CellError,
    CellResult,
    Change,
    Figure,
    Omitted,
    Output,
    Stream,
    Trace,
    TraceEvent,
)
from sandbox.sandbox import Sandbox
from sandbox.session import Session

__all__ = [
    "CellError",
    "CellResult",
    "Change",
    "Figure",
    "ImageError",
    "InterpreterError",
    "IsolationError",
    "KernelStartError",
    "Omitted",
    "Output",
    "Policy",
    "Sandbox",
    "SandboxBusy",
    "SandboxError",
    "Session",
    "SessionClosed",
    "Stream",
    "Trace",
    "TraceEvent",
]
