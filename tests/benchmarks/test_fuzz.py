"""The fuzzer, and every input that has failed before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz.__main__ import CORPUS, TARGETS, main
from benchmarks.fuzz.campaign import Failure, Read, Target, attempt, fuzz, inputs


def fails_on(is_bad: Callable[[bytes], bool]) -> Target:
    @contextmanager
    def open_reader() -> Iterator[Read]:
        def read(data: bytes) -> None:
            if is_bad(data):
                raise ValueError("bad")

        yield read

    return Target("test", lambda random: random.randbytes(8), open_reader)


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_of_the_corpus_fails(name: str) -> None:
    with TARGETS[name].open_reader() as read:
        failures = {path.name: attempt(read, path.read_bytes())[1] for path in (CORPUS / name).glob("*")}
    assert {path: failure.reason for path, failure in failures.items() if failure} == {}


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_new_inputs_do_not_fail(name: str) -> None:
    assert fuzz(TARGETS[name], 100, seed=0).failures == ()


@pytest.mark.parametrize("name", TARGETS)
def test_a_well_formed_input_does_not_fail(name: str) -> None:
    with TARGETS[name].open_reader() as read:
        assert attempt(read, TARGETS[name].generate(Random(0)))[1] is None


def test_the_same_seed_makes_the_same_inputs() -> None:
    target = TARGETS["zmtp"]
    assert list(inputs(target, 50, seed=1)) == list(inputs(target, 50, seed=1))


def test_an_exception_that_escapes_is_a_failure() -> None:
    report = fuzz(fails_on(lambda data: data[:1] < b"\x80"), 20, seed=0)
    assert report.failures
    assert report.failures[0].reason == "ValueError: bad"


def test_a_run_without_failures_has_passed() -> None:
    assert fuzz(fails_on(lambda data: False), 20, seed=0).passed


def test_a_failing_input_can_be_saved(tmp_path: Path) -> None:
    assert Failure(b"bad", "why").save(tmp_path / "new").read_bytes() == b"bad"


def test_the_command_prints_a_line_for_each_target(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["zmtp", "messages", "--inputs", "50", "--corpus", str(tmp_path)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "target",
        "zmtp",
        "messages",
    ]
