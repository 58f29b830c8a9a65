from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import Policy
from sandbox.protocol.trace import TraceCollector
from sandbox.results import Change, Trace, TraceEvent

patient = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def event(**fields: Any) -> dict[str, Any]:
    usual = {"kind": "line", "function": "f", "cell": 1, "line": 2, "depth": 0, "source": "a = 1"}
    return usual | {"changes": [], "value": None} | fields


def numbered(first: int, last: int) -> list[dict[str, Any]]:
    return [event(line=number) for number in range(first, last)]


def collected(*contents: object, policy: Policy | None = None) -> Trace:
    collector = TraceCollector(policy or Policy())
    for content in contents:
        collector.add(content)
    return collector.trace()


def numbers(trace: Trace) -> list[int]:
    return [each.line for each in trace.events]


def test_events_become_values() -> None:
    sent = event(kind="return", changes=[["a", "1", "new"]], value="5")
    assert collected({"events": [sent]}).events == (
        TraceEvent("return", "f", 1, 2, 0, "a = 1", (Change("a", "1", "new"),), "5"),
    )


def test_a_trace_over_the_limit_keeps_both_ends() -> None:
    batches = [{"events": numbered(at, at + 10)} for at in range(1, 101, 10)]
    trace = collected(*batches, policy=Policy(trace_events=6))
    assert (numbers(trace), trace.head, trace.omitted) == ([1, 2, 3, 98, 99, 100], 3, 94)


def test_what_the_guest_left_out_is_counted_in_one_gap() -> None:
    trace = collected(
        {"events": numbered(1, 6)},
        {"events": numbered(20, 22), "omitted": 14},
        policy=Policy(trace_events=6),
    )
    assert (numbers(trace), trace.head, trace.omitted) == ([1, 2, 3, 20, 21], 3, 16)


def test_characters_are_limited() -> None:
    trace = collected({"events": [event(source="x" * 100)] * 50}, policy=Policy(trace_chars=1000))
    assert (len(trace.events), trace.omitted) == (10, 40)


def test_a_trace_that_ended_early_says_so() -> None:
    assert collected({"events": [], "stopped": True}, {"events": []}).stopped
    assert not collected({"events": [], "stopped": 1}).stopped


def test_long_texts_are_cut() -> None:
    long = "x" * 10_000
    sent = event(function=long, source=long, value=long, changes=[[long, long, "new"]] * 1000)
    (found,) = collected({"events": [sent]}, policy=Policy(trace_value_chars=50)).events
    assert (len(found.function), len(found.source), len(found.value or "")) == (200, 500, 50)
    assert (len(found.changes), len(found.changes[0].name), len(found.changes[0].value)) == (200, 200, 50)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "jump"},
        {"kind": ["line"]},
        {"line": 0},
        {"line": True},
        {"line": 10**12},
        {"cell": "1"},
        {"depth": -1},
        {"function": None},
        {"source": 5},
        {"changes": None},
        {"value": 5},
    ],
)
def test_a_malformed_event_is_ignored(fields: dict[str, Any]) -> None:
    assert numbers(collected({"events": [event(line=7), event(**fields), event(line=9)]})) == [7, 9]


def test_a_malformed_change_is_ignored() -> None:
    changes = [["a", "1", "new"], ["b", "1", "old"], ["c", "1"], ["d", 1, "new"], "new", None, {"a": 1}]
    (found,) = collected({"events": [event(changes=changes)]}).events
    assert found.changes == (Change("a", "1", "new"),)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
events = st.builds(
    lambda name, value: event(**{name: value}),
    st.sampled_from(sorted(event())),
    anything | st.just([["a", "b", "new"]]),
)


@patient
@given(
    st.lists(anything | st.fixed_dictionaries({"events": st.lists(events | anything), "omitted": anything}))
)
def test_no_message_makes_it_raise(contents: list[object]) -> None:
    trace = collected(*contents, policy=Policy(trace_events=4))
    assert len(trace.events) <= 4
    assert trace.omitted >= 0
