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
from sandbox.policy import HostFunction, Layer, Policy
from sandbox.results import (
    CellError,
    CellResult,
    Change,
    Figure,
    Omitted,
    Output,
    Region,
    Stream,
    Trace,
    TraceEvent,
    View,
)
from sandbox.sandbox import HELPERS, Sandbox
from sandbox.session import ImageData, Session

__all__ = [
    "HELPERS",
    "CellError",
    "CellResult",
    "Change",
    "Figure",
    "HostFunction",
    "ImageData",
    "ImageError",
    "InterpreterError",
    "IsolationError",
    "KernelStartError",
    "Layer",
    "Omitted",
    "Output",
    "Policy",
    "Region",
    "Sandbox",
    "SandboxBusy",
    "SandboxError",
    "Session",
    "SessionClosed",
    "Stream",
    "Trace",
    "TraceEvent",
    "View",
]
