"""Answers questions about images by writing Python and running it in an isolated Jupyter kernel.

result = pyvision.answer("What colour is the car?", "photo.jpg")
for event in pyvision.stream("What colour is the car?", "photo.jpg"): ...
result = await pyvision.aanswer("What colour is the car?", "photo.jpg")
with pyvision.open(model="openai") as vision: vision.ask("What colour is the car?", "photo.jpg")

The names below are the public API. Each loads when it is first used, so that `import pyvision` is instant.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyvision.config.deprecated_modules import DeprecatedModules

if TYPE_CHECKING:
    from pyvision.agent.budget import Limits
    from pyvision.agent.episode import Episode
    from pyvision.agent.strategy import Strategy
    from pyvision.agent.task import RunConfig, Task
    from pyvision.api import EventStream, RunResult, Vision, aanswer, answer, astream, load, stream
    from pyvision.api import open as open  # noqa: A004 - public, but not for `import *`
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
        CellOutput,
        CellRun,
        Event,
        ImageDefined,
        ModelCall,
        Note,
        PassingEvent,
        ReplyRestarted,
        RunEnded,
        RunStarted,
        TextDelta,
        ToolRun,
    )
    from pyvision.models.cancellation import Cancellation
    from pyvision.solve import prepare
    from pyvision.types import (
        Answer,
        Ask,
        Evidence,
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
    "Cancellation",
    "CellOutput",
    "CellRun",
    "ConfigError",
    "Conversation",
    "EndReason",
    "Episode",
    "Event",
    "EventStream",
    "Evidence",
    "FormatError",
    "ImageDefined",
    "ImageError",
    "LimitReached",
    "Limits",
    "Message",
    "MissingExtra",
    "Model",
    "ModelCall",
    "ModelError",
    "Note",
    "Observation",
    "Outcome",
    "PassingEvent",
    "Picture",
    "PromptError",
    "PyVisionError",
    "Question",
    "Reply",
    "ReplyRestarted",
    "Restart",
    "RunConfig",
    "RunEnded",
    "RunFolderError",
    "RunResult",
    "RunStarted",
    "Sampling",
    "Strategy",
    "Task",
    "Text",
    "TextDelta",
    "Tool",
    "ToolError",
    "ToolRequest",
    "ToolRun",
    "Usage",
    "Vision",
    "__version__",
    "aanswer",
    "answer",
    "astream",
    "load",
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
        "ModelCall",
        "RunStarted",
        "ImageDefined",
        "RunEnded",
        "Event",
        "Note",
        "CellOutput",
        "CellRun",
        "PassingEvent",
        "ReplyRestarted",
        "TextDelta",
        "ToolRun",
    ),
    "agent.task": ("RunConfig", "Task"),
    "solve": ("prepare",),
    "api": ("EventStream", "RunResult", "Vision", "aanswer", "answer", "astream", "load", "open", "stream"),
    "agent.strategy": ("Strategy",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__ and name != "open":  # which `import *` must not replace
        raise AttributeError(f"module 'pyvision' has no attribute {name!r}")
    if name == "__version__":
        from pyvision.config.files import package_version

        return package_version()
    module = next((module for module, names in _MODULES.items() if name in names), "types")
    return getattr(import_module(f"pyvision.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext pyvision`: adds the cell magic `%%see`."""
    from pyvision.api.magic import register

    register(shell)


sys.meta_path.insert(0, DeprecatedModules())  # first: a moved package would load its modules a second time
