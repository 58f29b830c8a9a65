"""Answers questions about images by writing Python and running it in an isolated Jupyter kernel.

outcome = pyvision.answer("What colour is the car?", images=["photo.jpg"])
for event in pyvision.stream("What colour is the car?", images=["photo.jpg"]): ...
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyvision.solve import answer as answer
    from pyvision.solve import stream as stream

__all__ = ["answer", "stream"]


def __getattr__(name: str) -> Any:
    """Load `answer` and `stream` when they are first used, so that `--help` stays instant."""
    if name in __all__:
        from pyvision import solve

        return getattr(solve, name)
    raise AttributeError(f"module 'pyvision' has no attribute {name!r}")
