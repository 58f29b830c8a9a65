"""Run a program as a cell is run, traced, and tell its trace in pysnooper's words."""

from __future__ import annotations

import ast
import contextlib
import linecache
from collections.abc import Iterator
from typing import Any

from sandbox import Policy
from sandbox.guest.tracing.trace import TraceLimits, Tracer
from sandbox.protocol.trace import TraceCollector
from sandbox.results import Change, Trace, TraceEvent

LABELS = {"starting": "Starting var:.. ", "new": "New var:....... ", "modified": "Modified var:.. "}
TIME = " " * 15


def limits(policy: Policy) -> TraceLimits:
    return TraceLimits(
        events=policy.trace_events,
        chars=policy.trace_chars,
        value_chars=policy.trace_value_chars,
        steps=policy.trace_steps,
    )


class Cells:
    """Runs cells one after the other in one namespace; keeps every message that the tracer sent."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.messages: list[dict[str, Any]] = []
        self._number = 0

    def define(self, source: str) -> None:
        """Run a cell without a trace."""
        for code in self._statements(source):
            exec(code, self.names)

    def run(self, source: str) -> Trace:
        """Trace a cell. An exception ends it, as in a kernel."""
        codes = list(self._statements(source))
        with self._traced() as collector, contextlib.suppress(Exception):
            for code in codes:
                exec(code, self.names)
        return collector.trace()

    def call(self, source: str) -> Trace:
        """Define the functions of a program without a trace, then trace a call of its `main`."""
        self.define(source)
        with self._traced() as collector, contextlib.suppress(Exception):
            self.names["main"]()
        return collector.trace()

    @contextlib.contextmanager
    def _traced(self) -> Iterator[TraceCollector]:
        collector = TraceCollector(self.policy)
        self.messages = []
        tracer = Tracer(self.messages.append, limits(self.policy))
        tracer.start()
        try:
            yield collector
        finally:
            tracer.stop()
            for message in self.messages:
                collector.add(message)

    def _statements(self, source: str) -> Iterator[Any]:
        """As IPython compiles them: each by itself, named by its line."""
        self._number += 1
        file = f"<cell {self._number}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        for statement in ast.parse(source).body:
            code = compile(ast.Module([statement], []), file, "exec")
            yield code.replace(co_name=f"<cell line: {statement.lineno}>")


def lines(trace: Trace) -> list[str]:
    return [line for event in trace.events for line in told(event)]


def told(event: TraceEvent) -> Iterator[str]:
    """An event as pysnooper tells it with `normalize=True`."""
    indent = "    " * event.depth
    for change in event.changes:
        yield f"{indent}{LABELS[change.how]}{change.name} = {change.value}"
    if event.kind == "return" and event.value is None:
        yield f"{indent}Call ended by exception"
        return
    yield f"{indent}{TIME} {event.kind:9} {event.line:4} {event.source}"
    if event.kind == "return":
        yield f"{indent}Return value:.. {event.value}"
    if event.kind == "exception":
        yield f"{indent}Exception:..... {event.value}"


def changes(trace: Trace, name: str) -> list[Change]:
    return [change for event in trace.events for change in event.changes if change.name == name]


def values(trace: Trace, name: str) -> list[str]:
    return [change.value for change in changes(trace, name)]


def steps(trace: Trace) -> list[str]:
    """What happened where, shortly."""
    return [f"{event.kind} {event.function} {event.line}" for event in trace.events]
