"""Sessions whose cells write past the kernel into its connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from sandbox import Omitted, Policy, Sandbox, Session

_WRITE = """
import os
import socket
import time

def accepted(channel):
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    return end
        except OSError:
            continue

def write(channel, data, pause_s=0):
    end, rest = accepted(channel), data
    while True:
        try:
            rest = rest[end.send(rest):] or data
        except BlockingIOError:
            continue
        except OSError:
            return
        time.sleep(pause_s)
"""
_ENDLESS = r"b'\x03' + (2**16).to_bytes(8, 'big') + bytes(2**16)"
_SLOW = "accepted('iopub').send(b'\\x03' + (10**6).to_bytes(8, 'big')); write('iopub', b'x', 0.01)"


@pytest.fixture
def hostile(sandbox: Sandbox) -> Iterator[Session]:
    with sandbox.open() as session:
        assert session.run(_WRITE).status == "ok"
        yield session


def test_an_endless_output_loses_the_rest_of_the_output(hostile: Session) -> None:
    result = hostile.run(f"print('before', flush=True)\nwrite('iopub', {_ENDLESS})\nprint('after')")
    assert (result.status, result.state) == ("ok", "kept")
    assert [type(output) for output in result.outputs[-1:]] == [Omitted]
    assert "after" not in result.text


def test_the_cell_after_an_endless_output_is_received(hostile: Session) -> None:
    hostile.run(f"write('iopub', {_ENDLESS})")
    assert hostile.run("print('heard')").text == "heard\n"


def test_an_endless_reply_ends_the_session_with_a_reason(hostile: Session) -> None:
    result = hostile.run(f"write('shell', {_ENDLESS})\nwhile True: pass")
    assert (result.status, result.state) == ("died", "lost")
    assert result.error is not None
    assert "the kernel sent a malformed message (a message of more than" in result.error.message


def test_a_session_lost_to_a_malformed_message_starts_again(hostile: Session) -> None:
    hostile.run(f"write('shell', {_ENDLESS})\nwhile True: pass")
    assert hostile.run("print('anew')").text == "anew\n"


def test_replies_to_nothing_end_the_session(hostile: Session) -> None:
    result = hostile.run("write('shell', bytes(20_000))\nwhile True: pass")
    assert result.error is not None
    assert "replies to no request" in result.error.message


def test_an_endless_host_call_ends_the_session() -> None:
    with Sandbox(Policy(host_bytes=2**20)) as sandbox, sandbox.open() as session:
        session.run(_WRITE)
        code = f"print(host.f(), flush=True)\nwrite('stdin', {_ENDLESS})\nwhile True: pass"
        result = session.run(code, functions={"f": lambda: 42})
    assert result.error is not None
    assert "the kernel sent a malformed message (a message of more than" in result.error.message


def test_output_that_still_arrives_after_the_reply_is_complete(sandbox: Sandbox) -> None:
    """More than two seconds later, in which the end of the output has long been sent."""
    code = "import time\nfor number in range(4):\n    print(number, flush=True)\n    time.sleep(0.1)"
    pauses_s = iter((0.5, 0.0, 2.2, 0.0))  # all is sent in the first one, and the reply is read after it
    with sandbox.open() as session:
        result = session.run(code, on_output=lambda _: time.sleep(next(pauses_s, 0.0)))
    assert result.text.split() == ["0", "1", "2", "3"]


def test_a_cell_can_be_interrupted_while_a_message_arrives(hostile: Session) -> None:
    timer = threading.Timer(0.5, hostile.interrupt)
    timer.start()
    result = hostile.run(_SLOW)
    timer.join()
    assert result.error is not None
    assert (result.error.name, result.state) == ("KeyboardInterrupt", "kept")


def test_a_session_can_be_closed_while_a_message_arrives(hostile: Session) -> None:
    timer = threading.Timer(0.5, hostile.close)
    timer.start()
    assert hostile.run(_SLOW).status == "died"
    timer.join()


def test_a_deadline_holds_while_a_message_arrives(short: Sandbox) -> None:
    with short.open() as session:
        session.run(_WRITE)
        assert session.run(_SLOW).status == "timeout"
