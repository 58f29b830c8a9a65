"""The events of a run for a reader that waits for each: an iterator, or an asynchronous generator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from pathlib import Path
from typing import TypeAlias

from pyvision.agent.pump import Pump
from pyvision.api.result import RunResult
from pyvision.events import Event, PassingEvent
from pyvision.models.cancellation import Cancellation

Producer: TypeAlias = Callable[[Callable[[Event], None], Cancellation], None]
"""Runs until the run has ended, gives every event to its first argument, and stops early on a cancellation."""


class EventStream(Iterator[Event]):
    """The events of a run as they happen. Closing it ends the run and its kernel."""

    def __init__(self, events: Generator[Event, None, None], out: str | Path | None) -> None:
        self._events = events
        self._recorded: tuple[Event, ...] = ()
        self._out = Path(out) if out else None

    def __next__(self) -> Event:
        event = next(self._events)
        if not isinstance(event, PassingEvent):
            self._recorded += (event,)
        return event

    def close(self) -> None:
        """End the run, and wait until its kernel is closed."""
        self._events.close()

    @property
    def result(self) -> RunResult:
        """What is known so far; the answer once the last event was read."""
        return RunResult(self._recorded, self._out)

    def _ipython_display_(self) -> None:
        """Show the steps in a notebook while they happen."""
        from IPython import display

        handle = display.DisplayHandle()  # type: ignore[no-untyped-call]
        handle.display(self.result)  # type: ignore[no-untyped-call]
        try:
            for event in self:
                if not isinstance(event, PassingEvent):
                    handle.update(self.result)  # type: ignore[no-untyped-call]
        finally:
            self.close()


def sync_events(produce: Producer) -> Generator[Event, None, None]:
    """The events of a producer that runs in a thread. Closing the generator cancels it and waits for its end."""
    cancellation = Cancellation()
    pump = Pump[Event](lambda put: produce(put, cancellation))
    try:
        yield from pump
    finally:
        cancellation.cancel()
        pump.join()
    pump.check()


async def async_events(produce: Producer) -> AsyncGenerator[Event, None]:
    """The same in a running event loop, which is never blocked: closing or cancelling waits without holding it."""
    loop, cancellation = asyncio.get_running_loop(), Cancellation()
    arrived: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(event: Event | None) -> None:
        loop.call_soon_threadsafe(arrived.put_nowait, event)

    def produce_to_loop(_: Callable[[Event], None]) -> None:
        try:
            produce(put, cancellation)
        finally:
            put(None)

    pump = Pump[Event](produce_to_loop)
    is_over = False
    try:
        while (event := await arrived.get()) is not None:
            yield event
        is_over = True
    finally:
        cancellation.cancel()
        while not is_over:
            is_over = await arrived.get() is None
        pump.join()
    pump.check()
