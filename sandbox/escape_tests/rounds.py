"""Attacks that run one after the other in the background, while the caller waits for one verdict each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

from sandbox.escape_tests.attacks import Attack
from sandbox.escape_tests.runner import Runner, Verdict

Verdicts: TypeAlias = dict[str, Future[Verdict]]
"""By the id of the attack."""


@contextmanager
def running(runner: Runner, attacks: Iterable[Attack]) -> Iterator[Verdicts]:
    """Have the runner try these in their order, from now on. It is closed in the end."""
    with runner, ThreadPoolExecutor(1) as thread:
        try:
            yield {attack.id: thread.submit(runner.run, attack) for attack in attacks}
        finally:
            thread.shutdown(cancel_futures=True)
