"""Every exception of the package.

PyVisionError
├── ConfigError          a flag, a file, a key or a question that cannot be used    (exit 2)
│   ├── ImageError       a file that is not a usable image
│   ├── PromptError      a prompt file that is missing, or was rendered with the wrong variables
│   ├── MissingKey       an endpoint needs a key, and none is set
│   └── MissingExtra     a package of an optional extra is not installed
├── RunFolderError       the run folder cannot be written, or holds another run     (exit 2)
├── ModelError           the model endpoint failed                                  (exit 4)
├── FormatError          a reply does not contain what was expected
├── ToolError            a tool failed
└── LimitReached         a budget of the episode is spent

The sandbox has its own tree in `sandbox.errors`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal, TypeAlias

EndReason: TypeAlias = Literal[
    "answered",
    "no_answer",  # the model ended without an answer, and nothing in its reply could be repaired into one
    "refused",  # the model declined, or a content filter did
    "truncated",  # the reply was cut at its length limit, and so was the second attempt
    "loop",  # the same cell failed again in the same way, after the model was warned
    "turn_limit",
    "tool_limit",
    "token_limit",
    "time_limit",
    "picture_limit",
    "byte_limit",
    "cost_limit",
    "context_overflow",  # the conversation is longer than the model can read
    "model_error",  # the endpoint failed: not the model's fault, so never scored
    "sandbox_error",  # no isolation, or the kernel could not be started: never scored either
    "interrupted",  # the caller stopped it
    "error",  # a bug, or a setting that turned out unusable: raised as well
]
ErrorKind: TypeAlias = Literal[
    "context", "auth", "quota", "rate", "unknown_model", "too_large", "tools", "other"
]


def reason(error: Exception) -> str:
    """Why a file cannot be used, in one line, without its path: the message names it already."""
    why = error.strerror if isinstance(error, OSError) else None
    return " ".join((why or str(error)).split()) or type(error).__name__


def suggest(word: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean 'x'?` for a mistyped word; `otherwise` and all known words if none is near."""
    names = tuple(known)
    return suggest_nearest(word, names) or f"{otherwise} {', '.join(names)}"


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or nothing if no known word is near."""
    near = get_close_matches(word[:100].lower(), tuple(known), 1)
    return f"did you mean {near[0]!r}?" if near else ""


class PyVisionError(Exception):
    """The root of the tree. The message is one line: the thing, the value, the fix."""


class ConfigError(PyVisionError):
    """A flag, a file, a key or a question that cannot be used."""


class ImageError(ConfigError):
    """A file that is not a usable image."""


class PromptError(ConfigError):
    """A prompt file that is missing, or was rendered with the wrong variables."""


class MissingKey(ConfigError):  # noqa: N818 - it names what is missing
    """An endpoint needs a key, and none is set."""


class MissingExtra(ConfigError):  # noqa: N818 - it names what is missing, as ModuleNotFoundError does
    """A package of an optional extra is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it: pip install 'pyvision-agent[{extra}]'")


class RunFolderError(PyVisionError):
    """The run folder cannot be written, or already holds another run."""


class ModelError(PyVisionError):
    """The model endpoint failed: unreachable, unauthorised, overloaded or sending malformed replies.

    retry: whether the same request may succeed later. retry_after_s: how long the endpoint asked to wait.
    kind: what a caller can react to; `context` is a conversation longer than the model can read, `tools` an endpoint
    that takes no tool calls.
    brief: the failure in a few words, such as `503 from api.example.org`; by default the message.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after_s: float | None = None,
        kind: ErrorKind = "other",
        brief: str = "",
    ) -> None:
        super().__init__(message)
        self.retry = retry
        self.retry_after_s = retry_after_s
        self.kind = kind
        self.brief = brief or message


class FormatError(PyVisionError):
    """A reply does not contain what was expected; the strategy decides whether to ask again."""


class ToolError(PyVisionError):
    """A tool failed: a service is down, a file is broken. The message holds no secret."""


class LimitReached(PyVisionError):  # noqa: N818 - it reports a state, not a fault
    """A budget of the episode is spent."""

    def __init__(self, end_reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.end_reason = end_reason
