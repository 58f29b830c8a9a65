"""Untrusted Python in a persistent, isolated Jupyter kernel. Knows nothing of models or questions."""

from sandbox.errors import ImageError, IsolationError, KernelStartError, SandboxError, SessionClosed
from sandbox.policy import Policy
from sandbox.results import CellError, CellResult, Figure, Omitted, Output, Stream
from sandbox.session import Sandbox, Session

__all__ = [
    "CellError",
    "CellResult",
    "Figure",
    "ImageError",
    "IsolationError",
    "KernelStartError",
    "Omitted",
    "Output",
    "Policy",
    "Sandbox",
    "SandboxError",
    "Session",
    "SessionClosed",
    "Stream",
]
