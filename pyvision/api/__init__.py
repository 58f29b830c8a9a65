"""Questions from Python: one at a time or many, waiting or streaming, with or without asyncio, and in notebooks."""

from pyvision.api.ask import Vision, aanswer, answer, astream, open, stream  # noqa: A004
from pyvision.api.result import RunResult, load
from pyvision.api.streams import EventStream

__all__ = [
    "EventStream",
    "RunResult",
    "Vision",
    "aanswer",
    "answer",
    "astream",
    "load",
    "open",
    "stream",
]
