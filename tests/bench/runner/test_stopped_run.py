"""Runs that a signal stops, or that find the work of an earlier one."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from threading import Event, Thread

import pytest

from pyvision.agent.budget import Limits
from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Finished, Job, WorkerContext
from pyvision.bench.runner.engine import Threads
from pyvision.bench.runner.run import ExperimentResult
from pyvision.bench.store import DATABASE, Store
from pyvision.errors import ModelError
from pyvision.solve import prepare
from pyvision.types import Message, Reply, Sampling
from sandbox import CellResult, HostFunction
from tests.bench.runner.test_run import as_it_is
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, contents, made, records_in
from tests.doubles import CannedSandbox


def terminate_after_five(folder: Path, model: Knowing) -> ExperimentResult:
    """Run 40 samples, and send SIGTERM to this process when five are finished."""
    watcher = Quiet()
    watcher.when_shown = lambda: os.kill(os.getpid(), signal.SIGTERM) if len(watcher.shown) == 5 else None
    return run.run(a_plan(folder, made(40), model, workers=2), watcher)


def test_after_a_signal_a_run_is_returned_as_stopped(tmp_path: Path) -> None:
    assert terminate_after_five(tmp_path, Knowing()).was_stopped


def test_after_a_signal_only_the_running_samples_are_finished(tmp_path: Path) -> None:
    model = Knowing()
    terminate_after_five(tmp_path, model)
    assert 5 <= len(records_in(tmp_path)) == len(model.asked) <= 8


def test_a_run_resumed_after_a_signal_equals_an_undisturbed_one(tmp_path: Path) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    terminate_after_five(stopped, Knowing())
    run.run(a_plan(stopped, made(40), Knowing()), Quiet())
    run.run(a_plan(whole, made(40), Knowing()), Quiet())
    assert contents(stopped) == contents(whole)


def interrupt_twice(folder: Path) -> None:
    """Run 40 samples, and send SIGINT to this process twice when three are finished."""
    watcher = Quiet()

    def interrupt() -> None:
        if len(watcher.shown) == 3:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    watcher.when_shown = interrupt
    with pytest.raises(KeyboardInterrupt):
        run.run(a_plan(folder, made(40), Knowing(), workers=3), watcher)


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    interrupt_twice(tmp_path)
    assert len(records_in(tmp_path)) < 10


def test_a_second_signal_keeps_what_was_recorded(tmp_path: Path) -> None:
    interrupt_twice(tmp_path)
    assert len(records_in(tmp_path)) >= 3


def test_a_stopped_run_restores_the_signal_handler(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    interrupt_twice(tmp_path)
    assert signal.getsignal(signal.SIGINT) is before


class Sleeping(CannedSandbox):
    """A kernel in which a cell runs until it is closed."""

    def __init__(self) -> None:
        super().__init__([CellResult("died")])
        self.has_begun, self.was_closed = Event(), Event()

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        self.has_begun.set()
        assert self.was_closed.wait(20)
        return super().run(code)

    def close(self) -> None:
        self.was_closed.set()


def test_a_stopped_engine_ends_a_cell_that_runs() -> None:
    model = Knowing({0: "<code>\n```python\nwhile True: pass\n```\n"})
    sandbox = Sleeping()
    engine = Threads(WorkerContext(prepare("?", model=model), sandbox), 1)
    found: list[Finished] = []
    ending = engine.answer(iter([Job(a_sample(0), 0)]), as_it_is)
    waiting = Thread(target=lambda: found.extend(chain.from_iterable(ending)))
    waiting.start()
    assert sandbox.has_begun.wait(20)
    engine.stop()
    waiting.join(20)
    engine.close()
    assert [finished.record.end_reason for finished in found] == ["interrupted"]


def test_an_answer_is_recorded_before_its_worker_asks_again(tmp_path: Path) -> None:
    model = Knowing()
    recorded: list[int] = []
    model.before = lambda number: recorded.append(len(records_in(tmp_path)))
    run.run(a_plan(tmp_path, made(6), model, workers=1), Quiet())
    assert recorded == list(range(6))


def forget(folder: Path, *samples: str) -> None:
    """Remove the records of these samples, as if the runner had been killed before it wrote them."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        for sample in samples:
            database.execute("DELETE FROM records WHERE sample_id = ?", (sample,))
            database.execute("DELETE FROM scores WHERE sample_id = ?", (sample,))
        database.commit()


def asked_again(folder: Path) -> list[int]:
    model = Knowing()
    run.run(a_plan(folder, made(4), model), Quiet())
    return model.asked


def test_a_complete_run_without_a_record_is_recorded_without_asking_again(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(4), Knowing({2: "\\boxed{A}"})), Quiet())
    before = contents(tmp_path)
    forget(tmp_path, "sample 0", "sample 2")
    assert asked_again(tmp_path) == []
    assert contents(tmp_path) == before


def test_a_run_that_was_cut_short_is_asked_again(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(4), Knowing()), Quiet())
    with Store(tmp_path) as store:
        folder = store.run_folder("sample 2")
    assert folder is not None
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    (folder / "events.jsonl").write_text("\n".join(lines[:-1]) + "\n", "utf-8")
    forget(tmp_path, "sample 2")
    assert asked_again(tmp_path) == [2]


def test_a_run_of_another_configuration_is_not_adopted(tmp_path: Path) -> None:
    other = a_plan(tmp_path, made(4), Knowing(), settings={"limits": Limits(max_turns=5)})
    run.run(other, Quiet())
    (tmp_path / DATABASE).unlink()
    assert sorted(asked_again(tmp_path)) == [0, 1, 2, 3]


def test_a_failed_run_without_a_record_is_asked_again(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(4), Knowing({1: ModelError("no route")})), Quiet())
    forget(tmp_path, "sample 1")
    assert asked_again(tmp_path) == [1]


def test_a_model_that_exits_spoils_its_own_sample_only(tmp_path: Path) -> None:
    class Exiting(Knowing):
        def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
            reply = super().complete(messages, sampling)
            if reply.text == "\\boxed{B}":
                raise SystemExit("a library gives up")
            return reply

    run.run(a_plan(tmp_path, made(3), Exiting()), Quiet())
    assert [record.end_reason for record in records_in(tmp_path)] == ["answered", "error", "answered"]
