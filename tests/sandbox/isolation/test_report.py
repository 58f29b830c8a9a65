"""What is reported to isolate a cell is what does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Layer, Policy, Sandbox

NAMES = [
    "tier",
    "namespaces",
    "landlock",
    "system calls",
    "user",
    "each process",
    "session memory",
    "total memory",
    "processors",
]


@pytest.fixture(scope="module")
def watching() -> Iterator[Sandbox]:
    with Sandbox(Policy(session_memory="watchdog", cpus=1.0), max_memory_bytes=2**33) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def watched(watching: Sandbox) -> dict[str, Layer]:
    return {layer.name: layer for layer in watching.layers()}


def test_each_mechanism_has_a_line(watched: dict[str, Layer]) -> None:
    assert list(watched) == NAMES


def test_a_watchdog_is_named(watched: dict[str, Layer]) -> None:
    assert watched["session memory"].detail.startswith("2,048 MiB: a watchdog ")
    assert watched["session memory"].is_present


def test_the_limit_of_all_sessions_is_named(watched: dict[str, Layer]) -> None:
    assert watched["total memory"].detail == "8,192 MiB, by the same means"


def test_without_a_cgroup_processors_are_not_limited(watched: dict[str, Layer]) -> None:
    assert not watched["processors"].is_present


def test_the_limits_of_each_process_are_those_that_it_has(
    watching: Sandbox, watched: dict[str, Layer]
) -> None:
    with watching.open({}) as session:
        code = "import resource as r; print(r.getrlimit(r.RLIMIT_NOFILE)[1], r.getrlimit(r.RLIMIT_NPROC)[1])"
        files, processes = session.run(code).text.split()
    assert f"RLIMIT_NOFILE {files}," in watched["each process"].detail
    assert f"RLIMIT_NPROC {processes}," in watched["each process"].detail
