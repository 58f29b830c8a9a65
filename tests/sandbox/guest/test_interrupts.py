"""An interrupt ends the cell that it names, in the code of the cell, and nothing else."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from sandbox import Session
from sandbox.guest.interrupts import Interrupts


def send() -> None:
    signal.raise_signal(signal.SIGINT)


class Laters:
    """What was asked for later."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def __call__(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append(call)


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    before = signal.getsignal(signal.SIGURG)
    yield Interrupts()
    signal.signal(signal.SIGURG, before)


def run(interrupts: Interrupts, source: str, **names: object) -> dict[str, object]:
    """The names after this cell, which `interrupted` joins if it was."""
    variables: dict[str, object] = {"interrupted": False, **names}
    code = interrupts.replace_interrupted(compile(source, "<cell 1>", "exec"))
    try:
        exec(code, variables)
    except KeyboardInterrupt:
        variables["interrupted"] = True
    return variables


def test_an_interrupt_is_raised_in_the_code_of_the_cell(interrupts: Interrupts) -> None:
    with interrupts.cell("a"):
        after = run(interrupts, "send()\nreached = 1", send=lambda: interrupts.request("a", send, Laters()))
    assert after["interrupted"]
    assert "reached" not in after


def test_an_interrupt_after_the_code_of_the_cell_does_nothing(interrupts: Interrupts) -> None:
    with interrupts.cell("a"):
        run(interrupts, "1")
        interrupts.request("a", send, Laters())
    with interrupts.cell("b"):
        assert not run(interrupts, "1")["interrupted"]


@pytest.mark.parametrize("named", ["a", ""])
def test_an_interrupt_while_the_cell_is_compiled_ends_it(interrupts: Interrupts, named: str) -> None:
    with interrupts.cell("a"):
        interrupts.request(named, send, Laters())
        assert run(interrupts, "1")["interrupted"]


def test_an_interrupt_before_its_cell_begins_ends_it(interrupts: Interrupts) -> None:
    interrupts.request("b", send, Laters())
    with interrupts.cell("a"):
        assert not run(interrupts, "1")["interrupted"]
    with interrupts.cell("b"):
        assert run(interrupts, "1")["interrupted"]


def test_an_interrupt_of_an_earlier_cell_does_nothing(interrupts: Interrupts) -> None:
    with interrupts.cell("a"):
        run(interrupts, "1")
    with interrupts.cell("b"):
        assert not run(interrupts, "send()", send=lambda: interrupts.request("a", send, Laters()))[
            "interrupted"
        ]


def test_a_deferred_interrupt_is_raised_after_the_block(interrupts: Interrupts) -> None:
    def receive() -> None:
        with interrupts.defer():
            send()
            parts.append("all")

    parts: list[str] = []
    with interrupts.cell("a"):
        assert run(interrupts, "receive()", receive=receive)["interrupted"]
    assert parts == ["all"]


def test_a_thread_of_the_cell_defers_nothing(interrupts: Interrupts) -> None:
    def receive() -> None:
        with interrupts.defer():
            inside.set()
            left.wait(60)

    inside, left = threading.Event(), threading.Event()
    thread = threading.Thread(target=receive)
    with interrupts.cell("a"):
        thread.start()
        inside.wait(60)
        assert run(interrupts, "send()", send=send)["interrupted"]
    left.set()
    thread.join()


def test_a_system_call_that_began_before_the_handler_ran_is_woken(interrupts: Interrupts) -> None:
    """SIGINT can be noticed late; until then, the call is interrupted again and again."""
    woken: list[int] = []
    later = Laters()
    with interrupts.cell("a"):
        signal.signal(signal.SIGURG, lambda number, _: woken.append(number))
        interrupts.request("a", lambda: None, later)  # nobody has noticed it yet
        later.calls.pop()()
        later.calls.pop()()
        assert woken == [signal.SIGURG, signal.SIGURG]
        send()
        later.calls.pop()()
        assert (len(woken), later.calls) == (2, [])


def test_a_finished_cell_is_not_woken(interrupts: Interrupts) -> None:
    later = Laters()
    with interrupts.cell("a"):
        interrupts.request("a", lambda: None, later)
    later.calls.pop()()
    assert later.calls == []


def test_a_stopped_call_of_the_host_leaves_the_next_one_intact(session: Session) -> None:
    """The interrupt arrives while the reply of the call is received, a little earlier or a little later."""
    cell = "host.begun(); import time; time.sleep(60)"
    begun = {"begun": lambda: threading.Thread(target=session.interrupt).start()}
    session.run("kept = 5")
    errors = [session.run(cell, functions=begun).error for _ in range(40)]
    assert {error.name for error in errors if error} == {"KeyboardInterrupt"}
    assert None not in errors
    assert session.run("print(kept)").text == "5\n"


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio; host.begun(); await asyncio.sleep(60)",
        "import asyncio; await asyncio.sleep(0); host.begun()\nwhile True: pass",
    ],
    ids=["waits", "runs"],
)
def test_an_interrupt_ends_a_cell_with_await(session: Session, code: str) -> None:
    session.run("kept = 6")
    begun = {"begun": lambda: threading.Timer(0.1, session.interrupt).start()}
    error = session.run(code, functions=begun).error
    assert error is not None
    assert error.name == "KeyboardInterrupt"
    assert session.run("print(kept)").text == "6\n"
