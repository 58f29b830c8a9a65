"""A sandbox for all tests of this folder, and a strategy driven by scripted replies in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sandbox import Policy, Sandbox
from tests.strategies.vdebugger.running import OneSession, Stage


@pytest.fixture(scope="session")
def sandbox(sandbox_of: Callable[[Policy], Sandbox]) -> Sandbox:
    return sandbox_of(Policy(cell_timeout_s=20, trace_value_chars=1000))


@pytest.fixture(scope="package")
def kernel(sandbox: Sandbox) -> Iterator[OneSession]:
    with sandbox.open({}) as session:
        yield OneSession(session)


@pytest.fixture
def stage(kernel: OneSession) -> Stage:
    return Stage(kernel)
