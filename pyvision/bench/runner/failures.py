"""Stop an experiment that cannot succeed: check models and sandbox before it starts, detect fatal failures during it.

With `--wait`, an endpoint that fails is waited for instead (`wait_for_models`).

A failure is fatal when every other sample would meet it too: a rejected key, a spent quota, no isolation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from math import ceil
from typing import Any

from pyvision.agent.episode import DEFAULT_ROLE, Sandbox, Session, find_libraries
from pyvision.agent.task import Task
from pyvision.errors import ConfigError, ImageError, ModelError
from pyvision.models.factory import ResolvedModel
from pyvision.models.streaming import stream_of
from pyvision.types import Message, Model, Reply, Restart, Sampling, Text
from sandbox import InterpreterError, IsolationError, SandboxError

_QUESTION = "Reply with the one word: ready"
_SECONDS = 60.0  # retries included
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 15.0, 300.0
_LONGEST_ASKED_S = 3600.0  # that an endpoint may ask to be left alone
_FILES = 100  # open files of the process itself
_FILES_PER_WORKER = 4  # a connection to the model, the run folder
_FILES_PER_SESSION = 13  # of a kernel: measured with 2 to 16 workers
_PLAYED_BACK = ("scripted", "replayed")  # recorded replies, which an additional question would use up
_FATAL_MODEL_ERRORS = frozenset({"auth", "quota", "unknown_model"})


def check_models(task: Task) -> None:
    """Ask each model of the task one tiny question; any reply is accepted. Raises ModelError."""
    described = {DEFAULT_ROLE: task.config.model, **task.config.roles}
    models = {
        id(model): model
        for role, model in task.models.items()
        if not _is_played_back(described.get(role, {}))
    }
    for model in models.values():
        _ask(model)


def check_model(resolved: ResolvedModel) -> None:
    """Ask one model a tiny question; any reply is accepted. Raises ModelError."""
    if not _is_played_back(resolved.described):
        _ask(resolved.model)


def check_sandbox(task: Task, sandbox: Sandbox) -> None:
    """Run one cell if the strategy runs code. Raises SandboxError when its result is wrong."""
    if not task.strategy.runs_code:
        return
    session = sandbox.open({})
    try:
        result = session.run("print(1 + 1)")
    finally:
        session.close()
    if (result.status, result.text.strip()) != ("ok", "2"):
        output = result.error.message if result.error else result.text[:200]
        raise SandboxError(
            f"a cell that prints 1 + 1 returned {result.status}: {output!r}; see `pyvision doctor`"
        )


def wait_for_models(
    task: Task,
    tell: Callable[[str], None],
    is_stopped: Callable[[], bool],
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Ask the models of the task, with growing pauses, until all of them reply. Returns False when stopped before.

    Raises ModelError when one fails in a way that no waiting helps.
    """
    pause_s = _FIRST_PAUSE_S
    while True:
        tell(f"paused; the models are asked again in {pause_s:,.0f} s")
        for _ in range(ceil(pause_s)):  # a signal does not end a sleep
            if is_stopped():
                return False
            sleep(1.0)
        try:
            check_models(task)
        except ModelError as error:
            if not error.retry:
                raise
            tell(f"still failing: {error}")
            pause_s = max(
                min(2 * pause_s, _LONGEST_PAUSE_S), min(error.retry_after_s or 0.0, _LONGEST_ASKED_S)
            )
        else:
            tell("the models reply; the run continues")
            return True


def check_open_files(workers: int, *, runs_code: bool) -> None:
    """Raise the limit on open files as far as this process may. Raises ConfigError if it is too low for the workers."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    per_worker = _FILES_PER_WORKER + (_FILES_PER_SESSION if runs_code else 0)
    needed = _FILES + workers * per_worker
    if hard != resource.RLIM_INFINITY and needed > hard:
        fitting = max(1, (hard - _FILES) // per_worker)
        raise ConfigError(
            f"{workers} workers need about {needed} open files, but the limit is {hard}; use --workers {fitting}, "
            f"or raise the limit with `ulimit -Hn {needed}`"
        )


def _ask(model: Model) -> None:
    model.complete((Message("user", (Text(_QUESTION),)),), Sampling(seconds=_SECONDS))


def _is_played_back(described: Mapping[str, Any]) -> bool:
    return described.get("wire") in _PLAYED_BACK


class FailureDetector:
    """Keeps the first fatal failure of one sample, which `solve` only reports as text."""

    def __init__(self) -> None:
        self.found: Exception | None = None

    def notice(self, error: Exception) -> None:
        """Keep the error if it is fatal."""
        if self.found is None and _is_fatal(error):
            self.found = error

    def watch_models(self, task: Task) -> Task:
        """The task with its models watched."""
        return replace(task, models={role: _Model(model, self.notice) for role, model in task.models.items()})

    def watch_sandbox(self, sandbox: Sandbox) -> Sandbox:
        """The sandbox, watched."""
        return _Sandbox(sandbox, self.notice)


def _is_fatal(error: Exception) -> bool:
    if isinstance(error, ModelError):
        return error.kind in _FATAL_MODEL_ERRORS
    if isinstance(error, ConfigError):  # a prompt file, for example
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

    @property
    def libraries(self) -> tuple[str, ...]:
        with _noticing(self._notice):
            return find_libraries(self._sandbox)

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
