from __future__ import annotations

import io
import linecache
import sys
import threading
from pathlib import Path
from typing import Any

import pysnooper  # type: ignore[import-untyped]
import pytest

from sandbox import Policy
from sandbox.guest.tracing.trace import Tracer
from sandbox.protocol.trace import TraceCollector
from sandbox.results import Change
from tests.sandbox.guest.tracing.traced import Cells, changes, limits, lines, steps, values
from tests.sandbox.processes import wait_until

LOOPS = """
def main():
    total = 0
    for number in range(3):
        if number == 1:
            continue
        total += number
    while total > 0:
        total -= 2
    else:
        done = True
    words = ["a"] * total
    return total, done, "text\\nwith a line"
"""
NESTED = '''
def main(first=1):
    def inner(value, *rest, key=None):
        """Doc."""
        nonlocal first
        first = value + len(rest)
        return first
    inner(2, 3, key={"a": [1, 2]})
    double = lambda value: value * 2
    text = "x" * 300
    return double(inner(4))
'''
GENERATORS = """
def numbers(count):
    for number in range(count):
        got = yield number
    return "end"

def all_of(count):
    result = yield from numbers(count)
    yield result

def main():
    found = list(all_of(2))
    total = sum(value * 2 for value in (1, 2))
    return found
"""
CAUGHT = """
def divide(a, b):
    return a / b

def main():
    try:
        divide(1, 0)
    except ZeroDivisionError as error:
        message = str(error)
    finally:
        closed = True
    try:
        {}["missing"]
    except (KeyError, OSError):
        pass
    return message
"""
UNCAUGHT = """
import threading
lock = threading.Lock()

def check(value):
    if value > 1:
        raise ValueError(f"{value} is too large")
    return check(value + 1)

def main():
    with lock:
        return check(0)
"""
RECURSION = """
def factorial(number):
    if number <= 1:
        return 1
    return number * factorial(number - 1)

def main():
    return factorial(4)
"""
DECORATED = """
def twice(function):
    def run(value):
        return function(function(value))
    return run

class Box:
    def __init__(self, value):
        self.value = value
        self.kind = None

    def __repr__(self):
        return f"Box({vars(self)})"

@twice
def grow(box):
    box.value += 1
    return box

def main():
    box = Box([1])
    box.value = 1
    return grow(box)
"""
VALUE_CHARS = 200  # fewer than some values have
PROGRAMS = [LOOPS, NESTED, GENERATORS, CAUGHT, UNCAUGHT, RECURSION, DECORATED]


def snooped(source: str, folder: Path) -> list[str]:
    """What pysnooper tells of `main` and of all that it calls, but for the file's name and the time it took."""
    file = folder / "program.py"
    file.write_text(source)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, str(file), "exec"), names)
    output = io.StringIO()
    snoop = pysnooper.snoop(output, depth=30, normalize=True, color=False, max_variable_length=VALUE_CHARS)
    try:
        snoop(names["main"])()
    except (ValueError, ZeroDivisionError):
        output.write("")
    recorded = output.getvalue().splitlines()
    return [line for line in recorded if not line.lstrip().startswith(("Source path:", "Elapsed time:"))]


@pytest.mark.parametrize("source", PROGRAMS)
def test_the_events_hold_everything_that_pysnooper_records(source: str, tmp_path: Path) -> None:
    expected = snooped(source, tmp_path)
    assert lines(Cells(Policy(trace_value_chars=VALUE_CHARS)).call(source)) == expected
    assert len(expected) > 10


def test_the_comparison_with_pysnooper_sees_a_difference(tmp_path: Path) -> None:
    assert lines(Cells().call(LOOPS.replace("-= 2", "-= 1"))) != snooped(LOOPS, tmp_path)


def test_a_cell_is_recorded_as_one_call() -> None:
    assert lines(Cells().run("a = 1\nb = [a]\nb.append(2)\nprint(end='')")) == [
        "                call         1 a = 1",
        "                line         1 a = 1",
        "New var:....... a = 1",
        "                line         2 b = [a]",
        "New var:....... b = [1]",
        "                line         3 b.append(2)",
        "Modified var:.. b = [1, 2]",
        "                line         4 print(end='')",
        "                return       4 print(end='')",
        "Return value:.. None",
    ]


def test_a_variable_of_an_earlier_cell_is_recorded_where_it_is_first_used() -> None:
    cells = Cells()
    cells.define("used = 1\nunused = 2")
    trace = cells.run("a = 0\na = used")
    assert changes(trace, "used") == [Change("used", "1", "starting")]
    assert changes(trace, "unused") == []


def test_an_exception_ends_the_cell_in_its_trace() -> None:
    trace = Cells().run("a = 1\na / 0\na = 2")
    assert steps(trace)[-2:] == ["exception <module> 2", "return <module> 2"]
    assert [event.value for event in trace.events[-2:]] == ["ZeroDivisionError: division by zero", None]


def test_the_last_line_shows_its_changes() -> None:
    assert values(Cells().run("a = 1\na = 2"), "a") == ["1", "2"]


def test_functions_of_earlier_cells_are_recorded_with_their_own_lines() -> None:
    cells = Cells()
    cells.define("\n\ndef earlier(x):\n    return x")
    trace = cells.run("earlier(5)")
    inside = [event for event in trace.events if event.function == "earlier"]
    assert [(event.cell, event.line, event.depth) for event in inside] == [(1, 3, 1), (1, 4, 1), (1, 4, 1)]
    assert trace.events[0].cell == 2


def test_libraries_are_not_traced() -> None:
    trace = Cells().run("import textwrap\ntextwrap.wrap('a b c', 3)")
    assert {event.function for event in trace.events} == {"<module>"}


def test_a_function_called_by_a_library_is_traced() -> None:
    trace = Cells().run("import functools\nfunctools.reduce(lambda a, b: a + b, [1, 2])")
    assert "call <lambda> 2" in steps(trace)


def test_class_bodies_are_not_traced_unlike_functions_they_call() -> None:
    trace = Cells().run("def made():\n    return 1\nclass A:\n    value = made()\n    other = 2")
    assert {event.function for event in trace.events} == {"<module>", "made"}
    assert values(trace, "A") == ["<class '__main__.A'>"]


# Python 3.11 calls comprehensions; later ones make them part of the function, with lines and variables.
def test_a_comprehension_is_one_line_without_variables_on_every_python() -> None:
    source = """def main():
    item = "outer"
    found = [
        item * 2
        for item in range(3)
        if item
    ]
    for number in (1, 2): pairs = {key: [key for inner in "ab"] for key in "cd"}
    return found
"""
    trace = Cells().call(source)
    assert steps(trace) == [
        "call main 1",
        *[f"line main {line}" for line in (2, 3, 8, 8, 8, 9)],
        "return main 9",
    ]
    assert values(trace, "item") == ["'outer'"]
    assert values(trace, "key") == values(trace, "inner") == []


def test_an_exception_in_a_comprehension_is_recorded_once_without_its_variables() -> None:
    trace = Cells().run("def f(x):\n    return [1 / x for x in (1, 0)]\nf('outer')")
    inside = [event for event in trace.events if event.function == "f"]
    assert [event.kind for event in inside] == ["call", "line", "exception", "return"]
    assert values(trace, "x") == ["'outer'"]


def test_names_in_a_comprehension_of_the_cell_are_those_of_the_cell() -> None:
    cells = Cells()
    cells.define("factor = 3")
    assert values(cells.run("x = 'kept'\nr = [x * factor for x in (1,)]"), "factor") == ["3"]


# Python 3.13 no longer calls a generator for that.
def test_a_generator_closed_while_suspended_adds_no_event() -> None:
    trace = Cells().run("def g():\n    yield 1\n    yield 2\na = g()\nnext(a)\na.close()\ng().close()")
    assert [event.kind for event in trace.events if event.function == "g"] == ["call", "line", "return"]


def test_an_exception_thrown_into_a_generator_ends_its_call() -> None:
    trace = Cells().run("def g():\n    yield\na = g()\nnext(a)\na.throw(KeyError('x'))")
    inside = [(event.kind, event.value) for event in trace.events if event.function == "g"]
    assert inside[-3:] == [("call", None), ("exception", "KeyError: 'x'"), ("return", None)]


def test_a_yield_of_none_is_not_an_exception() -> None:
    trace = Cells().run("def g():\n    yield\n    yield None\nfor a in g(): pass")
    returned = [event.value for event in trace.events if event.function == "g" and event.kind == "return"]
    assert returned == ["None", "None", "None"]


_RECURSION = "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    found = str(e)"


def test_an_endless_recursion_ends_the_trace() -> None:
    trace = Cells(Policy(trace_events=20)).run(_RECURSION)
    assert trace.stopped
    assert trace.omitted > 500


def test_an_endless_recursion_is_raised_as_without_a_trace() -> None:
    cells = Cells(Policy(trace_events=20))
    cells.run(_RECURSION)
    assert "maximum recursion depth" in cells.names["found"]


def test_a_cell_that_sets_a_tracer_of_its_own_ends_the_trace() -> None:
    assert Cells().run("import sys\nsys.settrace(None)\na = 1").stopped


def test_other_threads_are_not_traced() -> None:
    trace = Cells().run(
        "import threading\ndef work(): pass\nt = threading.Thread(target=work)\nt.start()\nt.join()"
    )
    assert {event.function for event in trace.events} == {"<module>"}


def test_tracing_is_over_after_the_cell() -> None:
    Cells().run("a = 1")
    assert sys.gettrace() is None


def test_a_long_trace_keeps_both_ends() -> None:
    trace = Cells(Policy(trace_events=100)).run("for i in range(300):\n    a = i")
    assert (len(trace.events), trace.head, trace.omitted) == (100, 50, 603 - 100)
    assert trace.events[0].kind == "call"
    assert trace.events[-1].kind == "return"
    assert values(trace, "a")[-1] == "299"


def test_the_characters_of_a_trace_are_limited_too() -> None:
    trace = Cells(Policy(trace_chars=4_000)).run("for i in range(300):\n    a = 'x' * i")
    recorded = sum(
        len(event.source) + sum(len(change.value) for change in event.changes) for event in trace.events
    )
    assert 3_000 < recorded < 4_000
    assert trace.events[-1].kind == "return"


def test_a_cell_of_very_many_lines_continues_untraced() -> None:
    cells = Cells(Policy(trace_steps=500))
    trace = cells.run("for i in range(100_000):\n    a = i")
    assert trace.stopped
    assert len(trace.events) == 500
    assert cells.names["a"] == 99_999


def test_the_trace_of_a_running_cell_is_sent_in_batches() -> None:
    cells = Cells()
    seen: list[int] = []
    cells.names["look"] = lambda: seen.append(len(cells.messages))
    cells.run("import time\nfor i in range(3):\n    time.sleep(0.06)\n    look()")
    assert seen[0] < seen[-1]
    assert all(seen)


def test_a_flood_of_lines_makes_few_messages() -> None:
    cells = Cells()
    cells.run("for i in range(5_000):\n    a = i")
    assert len(cells.messages) < 100


def test_an_interrupt_while_a_value_is_described_keeps_the_trace() -> None:
    cells = Cells()
    cells.define("class A:\n    def __repr__(self):\n        raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        cells.run("a = A()\nb = 1")
    recorded = [event for message in cells.messages for event in message["events"]]
    assert [event["kind"] for event in recorded] == ["call", "line"]
    assert cells.messages[-1]["stopped"]


def test_the_line_of_a_decorated_function_is_where_it_is_defined() -> None:
    trace = Cells().run("def same(f):\n    return f\n@same\n@same\ndef f(): pass\nf()")
    assert "call f 5" in steps(trace)


def test_a_deleted_variable_is_new_again() -> None:
    assert [change.how for change in changes(Cells().run("a = 1\ndel a\na = 1\na = 2"), "a")] == [
        "new",
        "new",
        "modified",
    ]


def test_a_trace_in_another_thread_than_the_main_one_works() -> None:
    file = "<cell 77>"
    linecache.cache[file] = 1, None, ["a = [1]\n"], file
    code, collector = compile("a = [1]", file, "exec"), TraceCollector(Policy())

    def work() -> None:
        tracer = Tracer(collector.add, limits(Policy()))
        tracer.start()
        exec(code, {})
        tracer.stop()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert values(collector.trace(), "a") == ["[1]"]


def test_a_trace_leaves_no_thread_behind() -> None:
    Cells().run("x = 1")
    assert wait_until(lambda: "trace" not in {thread.name for thread in threading.enumerate()})
