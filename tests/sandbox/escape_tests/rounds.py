"""Attacks that run one after the other in the background, while tests wait for one verdict each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

from sandbox.escape_tests import Attack, Runner, Verdict

Verdicts: TypeAlias = dict[str, Future[Verdict]]
"""By the id of the attack."""


@contextmanager
def played(runner: Runner, attacks: Iterable[Attack]) -> Iterator[Verdicts]:
    """Have the runner try these in their order, from now on; it is closed in the end."""
    with runner, ThreadPoolExecutor(1) as thread:
        try:
            yield {attack.id: thread.submit(runner.run, attack) for attack in attacks}
        finally:
            thread.shutdown(cancel_futures=True)
