"""The queue of callers that wait for a session."""

from __future__ import annotations

import threading

from sandbox.runtime.pool import SessionLimiter
from tests.sandbox.processes import wait_until


def test_callers_are_queued_first_in_first_out() -> None:
    limiter = SessionLimiter(1)
    limiter.acquire(None)
    served: list[int] = []

    def visit(number: int) -> None:
        limiter.acquire(None)
        served.append(number)
        limiter.release()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
    for count, thread in enumerate(threads, start=1):
        thread.start()
        waiting = count
        assert wait_until(lambda: len(limiter._waiting) == waiting)  # noqa: B023 - at once
    limiter.release()
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2, 3]
