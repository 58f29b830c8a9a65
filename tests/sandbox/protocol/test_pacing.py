"""Which cells go before others on a busy machine."""

from __future__ import annotations

import sys
import threading

from sandbox.protocol.pacing import Credit, Pacing


class Clock:
    """Stands still until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_session_that_is_never_idle_has_no_credit_left() -> None:
    clock = Clock()
    credit = Credit(clock)
    for _ in range(10):
        credit.remaining_s()
        clock.now += 0.2
        credit.spend()
    assert credit.remaining_s() == 0


def test_a_pause_gives_credit_back() -> None:
    clock = Clock()
    credit = Credit(clock)
    whole = credit.remaining_s()
    clock.now += 60
    credit.spend()
    clock.now += 60
    assert credit.remaining_s() == whole


def test_one_flood_is_read_at_a_time() -> None:
    pacing, entered, leave = Pacing(), threading.Event(), threading.Event()

    def read_slowly() -> bool:
        entered.set()
        return leave.wait(30)

    first = threading.Thread(target=pacing.read, args=(read_slowly,))
    first.start()
    assert entered.wait(30)
    read: list[str] = []

    def read_second() -> bool:
        read.append("second")
        return False

    assert pacing.read(read_second)  # to be tried again: its output is still there
    assert read == []
    leave.set()
    first.join(30)
    assert not pacing.read(read_second)
    assert read == ["second"]


def test_threads_take_turns_more_often_until_the_last_flood_ends() -> None:
    pacing, usual = Pacing(), sys.getswitchinterval()
    with pacing.switching():
        with pacing.switching():
            pass
        assert sys.getswitchinterval() < usual
    assert sys.getswitchinterval() == usual
