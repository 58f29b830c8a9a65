"""What is left of a run that was killed, had no room, or met another one; each in a process of its own."""

from __future__ import annotations

import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from pyvision.bench.runner import run
from pyvision.bench.store import DATABASE, RUNS
from pyvision.trajectory import read_trajectory
from tests.bench.runner.killed import main
from tests.bench.runs import Knowing, Quiet, a_plan, contents, made, records_in
from tests.sandbox.processes import wait_until


def start(folder: Path, count: int, file_bytes: int | None = None) -> subprocess.Popen[str]:
    def limit() -> None:
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench.runner.killed", str(folder), str(count)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,  # noqa: PLW1509 - there are no other threads in a test
    )


def wait_for_end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and what it printed on standard error."""
    _, message = process.communicate(timeout=60)
    return process.returncode, message


def count_records(folder: Path) -> int:
    """How many records there are, as nobody but a reader of the database can know."""
    if not (folder / DATABASE).is_file():
        return 0
    with closing(sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True, timeout=30)) as database:
        return int(database.execute("SELECT count(*) FROM records").fetchone()[0])


def kill_after(folder: Path, chance: random.Random, process: ForkServerProcess) -> None:
    """Kill a run once it has recorded a few samples more, at any moment of the next ones."""
    at_least = count_records(folder) + chance.randrange(1, 9)
    process.start()
    while process.is_alive() and count_records(folder) < at_least:
        time.sleep(0.01)
    time.sleep(chance.random() * 0.03)
    process.kill()
    process.join()
    process.close()


@pytest.mark.parametrize(("kills", "samples"), [(5, 100), pytest.param(20, 400, marks=pytest.mark.slow)])
def test_a_run_that_was_killed_has_every_sample_once(tmp_path: Path, kills: int, samples: int) -> None:
    chance = random.Random(7)
    folder, undisturbed = tmp_path / "killed", tmp_path / "whole"
    processes = get_context("forkserver")  # which has imported everything beforehand
    processes.set_forkserver_preload(["tests.bench.runner.killed", "pydantic", "PIL.PngImagePlugin"])
    before = 0
    for _ in range(kills):
        kill_after(folder, chance, processes.Process(target=main, args=(str(folder), str(samples))))
        assert count_records(folder) >= before
        before = count_records(folder)
    assert before > 0
    assert wait_for_end(start(folder, samples)) == (0, "")
    run.run(a_plan(undisturbed, made(samples), Knowing({7: "\\boxed{C}"})), Quiet())
    assert len(records_in(folder)) == samples
    assert contents(folder) == contents(undisturbed)
    runs = sorted((folder / RUNS).iterdir())
    assert len(runs) == samples
    assert all(read_trajectory(run).events[-1].kind == "ended" for run in runs[:: samples // 10])


def test_a_second_runner_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = start(tmp_path, 2_000)
    assert wait_until(lambda: count_records(tmp_path) >= 2)
    first.send_signal(signal.SIGSTOP)  # it holds the folder and does not end before the second one has begun
    second = start(tmp_path, 2_000)
    code, message = wait_for_end(second)
    assert code == 2
    assert f"process {first.pid} on " in message
    assert "is writing to it" in message
    first.kill()
    wait_for_end(first)
    before = count_records(tmp_path)
    third = start(tmp_path, 2_000)
    assert wait_until(lambda: count_records(tmp_path) > before)
    third.kill()
    wait_for_end(third)


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    """The folder of a run that met a full disk, its exit code, and what it printed on standard error."""
    folder = tmp_path_factory.mktemp("full")
    return folder, *wait_for_end(start(folder, 200, file_bytes=120_000))


def test_a_full_disk_ends_the_run_with_one_line(full_disk: tuple[Path, int, str]) -> None:
    folder, code, message = full_disk
    assert code == 2
    assert str(folder) in message
    assert "make room" in message
    assert message.count("\n") == 1


def test_a_full_disk_loses_no_record(full_disk: tuple[Path, int, str]) -> None:
    folder, *_ = full_disk
    before = records_in(folder)
    assert 0 < len(before) < 200
    assert wait_for_end(start(folder, 200)) == (0, "")
    after = {(record.sample_id, record.repeat): record for record in records_in(folder)}
    assert len(after) == 200
    assert all(after[(record.sample_id, record.repeat)] == record for record in before)
