"""Settings of the whole suite, the sandboxes that its tests share, and the browser that its pages are looked at with.

Property tests are repeatable and do not judge the speed of the machine.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sandbox import Policy, Sandbox, SandboxError

settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=40)  # used by `make test`
settings.load_profile("suite")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_configure() -> None:
    """Take Ctrl-C as in a terminal: a shell lets what it starts in the background ignore it, and so all it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["PYVISION_CONFIG"] = "none"  # what the developer has configured decides no test


@pytest.fixture(autouse=True)
def _forgotten_endpoints() -> None:
    """Forget what earlier tests have learnt of an endpoint: this test's server may have got the port of theirs."""
    if loaded := sys.modules.get("pyvision.models.unsupported_parameters"):
        loaded.remember.cache_clear()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of every garbage collection: it is there until the end, and large."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take the longest, so that no process is left with one of them in the end."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(scope="session", autouse=True)
def folder_of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made before a test changes where temporary files go: a folder made there would go with that test."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="session")
def sandbox_of() -> Iterator[Callable[[Policy], Sandbox]]:
    """A running Sandbox with this policy, the same for all tests: to start one takes a second of a processor.

    A test may do anything to its own sessions. One that looks at the start or the end of a Sandbox opens its own.
    """
    with ExitStack() as stack:
        opened: dict[Policy, Sandbox] = {}

        def open_once(policy: Policy) -> Sandbox:
            if policy not in opened:
                opened[policy] = stack.enter_context(Sandbox(policy))
            return opened[policy]

        yield open_once


@pytest.fixture(scope="session")
def needs_isolation(sandbox_of: Callable[[Policy], Sandbox]) -> None:
    try:
        sandbox_of(Policy(cell_timeout_s=20)).open().close()
    except SandboxError as error:
        pytest.skip(f"cells cannot run here: {error}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium is missing; install it: apt install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
