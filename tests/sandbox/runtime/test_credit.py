"""Which cells go before others on a busy machine."""

from __future__ import annotations

from sandbox.runtime.cell import Credit


class Clock:
    """Stands still until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_session_that_is_never_idle_has_no_credit_left() -> None:
    clock = Clock()
    credit = Credit(clock)
    for _ in range(10):
        credit.left_s()
        clock.now += 0.2
        credit.spend()
    assert credit.left_s() == 0


def test_a_pause_gives_credit_back() -> None:
    clock = Clock()
    credit = Credit(clock)
    whole = credit.left_s()
    clock.now += 60
    credit.spend()
    clock.now += 60
    assert credit.left_s() == whole
