"""Answers questions about images by writing Python and running it in an isolated Jupyter kernel.

outcome = pyvision.answer("What colour is the car?", images=["photo.jpg"])
for event in pyvision.stream("What colour is the car?", images=["photo.jpg"]): ...

The names below are the public API. Each loads when it is first used, so that `import pyvision` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyvision.agent.budget import Limits
    from pyvision.agent.episode import Episode
    from pyvision.agent.run_config import RunConfig
    from pyvision.agent.strategy import Strategy
    from pyvision.conversation import Conversation
    from pyvision.errors import (
        ConfigError,
        EndReason,
        FormatError,
        ImageError,
        LimitReached,
        MissingExtra,
        ModelError,
        PromptError,
        PyVisionError,
        RunFolderError,
        ToolError,
    )
    from pyvision.events import (
        Asked,
        Began,
        Defined,
        Ended,
        Event,
        Noted,
        Ran,
        Restarted,
        Spoke,
        Used,
    )
    from pyvision.models.cancellation import Cancellation
    from pyvision.solve import Task, answer, prepare, stream
    from pyvision.types import (
        Answer,
        Ask,
        Message,
        Model,
        Observation,
        Outcome,
        Picture,
        Question,
        Reply,
        Restart,
        Sampling,
        Text,
        Tool,
        ToolRequest,
        Usage,
    )

    __version__: str

__all__ = [
    "Answer",
    "Ask",
    "Asked",
    "Began",
    "Cancellation",
    "ConfigError",
    "Conversation",
    "Defined",
    "EndReason",
    "Ended",
    "Episode",
    "Event",
    "FormatError",
    "ImageError",
    "LimitReached",
    "Limits",
    "Message",
    "MissingExtra",
    "Model",
    "ModelError",
    "Noted",
    "Observation",
    "Outcome",
    "Picture",
    "PromptError",
    "PyVisionError",
    "Question",
    "Ran",
    "Reply",
    "Restart",
    "Restarted",
    "RunConfig",
    "RunFolderError",
    "Sampling",
    "Spoke",
    "Strategy",
    "Task",
    "Text",
    "Tool",
    "ToolError",
    "ToolRequest",
    "Usage",
    "Used",
    "__version__",
    "answer",
    "prepare",
    "stream",
]

_MODULES = {  # where the names are defined
    "agent.budget": ("Limits",),
    "models.cancellation": ("Cancellation",),
    "conversation": ("Conversation",),
    "agent.episode": ("Episode",),
    "errors": (
        "ConfigError",
        "EndReason",
        "FormatError",
        "ImageError",
        "LimitReached",
        "MissingExtra",
        "ModelError",
        "PromptError",
        "PyVisionError",
        "RunFolderError",
        "ToolError",
    ),
    "events": (
        "Asked",
        "Began",
        "Defined",
        "Ended",
        "Event",
        "Noted",
        "Ran",
        "Restarted",
        "Spoke",
        "Used",
    ),
    "agent.run_config": ("RunConfig",),
    "solve": ("Task", "answer", "prepare", "stream"),
    "agent.strategy": ("Strategy",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pyvision' has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        return version("pyvision")
    module = next((module for module, names in _MODULES.items() if name in names), "types")
    return getattr(import_module(f"pyvision.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
