"""Ask questions: `answer` and `stream`, the same with `await`, and `open` for many questions on a warm sandbox.

Every form builds the same producer of events and calls `pyvision.solve.solve` once for each question.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import ParamSpec, TypeVar, Unpack, cast

from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.agent.task import Task
from pyvision.api.result import RunResult
from pyvision.api.streams import EventStream, Producer, async_events, sync_events
from pyvision.conversation import Conversation
from pyvision.errors import suggest
from pyvision.events import Event, PassingEvent
from pyvision.models.cancellation import Cancellation
from pyvision.solve import Images, QuestionSettings, configure, open_recorder, read_question, solve
from pyvision.types import Closing
from sandbox import Sandbox

P = ParamSpec("P")
R = TypeVar("R")


def _with_settings(function: Callable[P, R]) -> Callable[P, R]:
    """Shows the settings of `configure` in the signature, and suggests the nearest one for a misspelled name."""
    own = inspect.signature(function)
    settings = inspect.signature(configure).parameters
    fixed = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    signature = own.replace(parameters=[*fixed, *settings.values()])
    known = list(signature.parameters)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                hint = suggest(name, known, "its arguments are")
                raise TypeError(f"{function.__name__}() has no argument {name!r}; {hint}")
        return function(*args, **kwargs)

    wrapper.__signature__ = signature  # type: ignore[attr-defined]  # read by `inspect` and by editors
    return wrapper


@_with_settings
def answer(
    text: str, images: Images = (), *, out: str | Path | None = None, **settings: Unpack[QuestionSettings]
) -> RunResult:
    """Answer a question about images, and wait for the result.

    images: one or many of: a path, a URL, bytes, an open file, a PIL image, a NumPy or torch array
    (`pyvision.solve.read_images`). The settings are those of `pyvision.solve.configure`. out: a folder that keeps the
    run, for `load`, `pyvision report` and the like. Raises ConfigError for what the caller has to fix; what goes wrong
    later is in the result.
    """
    with open(**settings) as vision:
        return vision.ask(text, images, out=out)


@_with_settings
def stream(
    text: str, images: Images = (), *, out: str | Path | None = None, **settings: Unpack[QuestionSettings]
) -> EventStream:
    """As `answer`, but the events as they happen. Closing the stream ends the run and its kernel.

    A notebook that displays the stream shows the steps while they happen.
    """
    return EventStream(sync_events(_producer(text, images, out, settings)), out)


@_with_settings
async def aanswer(
    text: str, images: Images = (), *, out: str | Path | None = None, **settings: Unpack[QuestionSettings]
) -> RunResult:
    """As `answer`, in a running event loop. Cancelling it ends the run, and returns when the kernel is closed."""
    return await _collect(async_events(_producer(text, images, out, settings)), out)


@_with_settings
def astream(
    text: str, images: Images = (), *, out: str | Path | None = None, **settings: Unpack[QuestionSettings]
) -> AsyncGenerator[Event, None]:
    """As `stream`, for `async for`. Cancelling or closing it ends the run and its kernel."""
    return async_events(_producer(text, images, out, settings))


@_with_settings
def open(  # noqa: A001 - as gzip.open is called
    **settings: Unpack[QuestionSettings],
) -> Vision:
    """A Vision for many questions with the same settings; close it, or use it in a `with`. Raises ConfigError."""
    return Vision(configure(**settings))


class Vision(Closing):
    """Answers many questions with one sandbox and open connections; each question gets its own kernel.

    Any thread may ask, several at a time.
    """

    def __init__(self, task: Task, sandbox: AnySandbox | None = None) -> None:
        """task: from `pyvision.solve.configure`; it is closed with this object. A sandbox that is given stays open."""
        self.task = task
        self._own = None if sandbox else Sandbox(task.policy)
        self._sandbox: AnySandbox = sandbox or cast("AnySandbox", self._own)

    def ask(self, text: str, images: Images = (), *, out: str | Path | None = None) -> RunResult:
        """As `pyvision.answer`."""
        events: list[Event] = []
        self._producer(text, images, out)(events.append, Cancellation())
        return _result(events, out)

    def stream(self, text: str, images: Images = (), *, out: str | Path | None = None) -> EventStream:
        """As `pyvision.stream`."""
        return EventStream(sync_events(self._producer(text, images, out)), out)

    async def aask(self, text: str, images: Images = (), *, out: str | Path | None = None) -> RunResult:
        """As `pyvision.aanswer`."""
        return await _collect(self.astream(text, images, out=out), out)

    def astream(
        self, text: str, images: Images = (), *, out: str | Path | None = None
    ) -> AsyncGenerator[Event, None]:
        """As `pyvision.astream`."""
        return async_events(self._producer(text, images, out))

    def conversation(self, out: str | Path | None = None) -> Conversation:
        """Questions one after the other in one kernel, with one history. The caller closes it."""
        return Conversation(self.task, self._sandbox, Path(out) if out else None)

    def close(self) -> None:
        """End every question and close the sandbox and the models."""
        if self._own is not None:
            self._own.close()
        self.task.close()

    def _producer(self, text: str, images: Images, out: str | Path | None) -> Producer:
        def produce(watch: Callable[[Event], None], cancellation: Cancellation) -> None:
            task = self.task.about(*read_question(text, images))
            with open_recorder(task, out) as keep:

                def both(event: Event) -> None:
                    keep(event)
                    watch(event)

                solve(task, both, self._sandbox, cancellation=cancellation)

        return produce


def _producer(text: str, images: Images, out: str | Path | None, settings: QuestionSettings) -> Producer:
    """One question with its own Vision, which is opened in the producer's thread."""

    def produce(watch: Callable[[Event], None], cancellation: Cancellation) -> None:
        with open(**settings) as vision:
            vision._producer(text, images, out)(watch, cancellation)

    return produce


async def _collect(events: AsyncGenerator[Event, None], out: str | Path | None) -> RunResult:
    async with aclosing(events):
        return _result([event async for event in events], out)


def _result(events: list[Event], out: str | Path | None) -> RunResult:
    recorded = tuple(event for event in events if not isinstance(event, PassingEvent))
    return RunResult(recorded, Path(out) if out else None)
