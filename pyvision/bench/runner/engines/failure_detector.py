"""Notice failures after which no other sample can fare better: a refused key, a spent quota, no isolation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from pyvision.agent.episode import Sandbox, Session
from pyvision.errors import ConfigError, ImageError, ModelError
from pyvision.models.streaming import stream_of
from pyvision.solve import Task
from pyvision.types import Message, Model, Reply, Restart, Sampling
from sandbox import InterpreterError, IsolationError

_OF_A_MODEL = frozenset({"auth", "quota", "unknown_model"})


class FailureDetector:
    """Keeps the first fatal failure of one sample; `solve` turns those of models and sandboxes into words."""

    def __init__(self) -> None:
        self.found: Exception | None = None

    def notice(self, error: Exception) -> None:
        """Keep the error, if it is a fatal one."""
        if self.found is None and is_fatal(error):
            self.found = error

    def guarded(self, task: Task) -> Task:
        """The task with its models watched."""
        return replace(task, models={role: _Model(model, self.notice) for role, model in task.models.items()})

    def guarded_sandbox(self, sandbox: Sandbox) -> Sandbox:
        """The sandbox, watched."""
        return _Sandbox(sandbox, self.notice)


def is_fatal(error: Exception) -> bool:
    """Whether every other sample would meet it too."""
    if isinstance(error, ModelError):
        return error.kind in _OF_A_MODEL
    if isinstance(error, ConfigError):  # a prompt file, say
        return not isinstance(error, ImageError)
    return isinstance(error, IsolationError | InterpreterError)


class _Model:
    def __init__(self, model: Model, notice: Callable[[Exception], None]) -> None:
        self._model = model
        self._notice = notice

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        with _noticing(self._notice):
            return self._model.complete(messages, sampling)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        with _noticing(self._notice), closing(stream_of(self._model, messages, sampling)) as pieces:
            yield from pieces


class _Sandbox:
    def __init__(self, sandbox: Sandbox, notice: Callable[[Exception], None]) -> None:
        self._sandbox = sandbox
        self._notice = notice

    def warm_up(self) -> None:
        with _noticing(self._notice):
            self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        with _noticing(self._notice):
            return self._sandbox.open(images)


@contextmanager
def _noticing(notice: Callable[[Exception], None]) -> Iterator[None]:
    try:
        yield
    except (ModelError, IsolationError, InterpreterError) as error:
        notice(error)
        raise
