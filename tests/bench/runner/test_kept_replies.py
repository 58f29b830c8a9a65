"""Replies of samples that were not finished: kept on the disk, used again, removed with the sample's record."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Hooks, Job, WorkerContext
from pyvision.bench.runner.kept_replies import REPLIES, KeptReplies, ReplyFolder
from pyvision.errors import ModelError
from pyvision.events import ReplyRestarted
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from pyvision.types import Message, Reply, Sampling, Text, Usage
from tests.bench.runs import Quiet, a_plan, a_sample, made, records_in
from tests.doubles import CannedSandbox, printed

HELLO = (Message("user", (Text("hello"),)),)
CELL = "<code>\nprint(1)\n</code>"


def context(path: Path, *replies: str | Reply | ModelError) -> WorkerContext:
    sandbox = CannedSandbox([printed("1")])
    task = prepare("?", model=Scripted(replies, name="m"))
    return WorkerContext(task, sandbox, hooks=Hooks(keep=lambda job: KeptReplies(path)))


def test_a_retried_sample_reuses_the_replies_it_received(tmp_path: Path) -> None:
    path, job = tmp_path / "kept.jsonl", Job(a_sample(0), 0)
    failed = context(path, Reply(CELL, Usage(10, 2)), ModelError("no route")).answer(job)
    assert failed.record.end_reason == "model_error"
    again = context(path, "\\boxed{A}").answer(job)
    assert (again.record.answer, again.record.turns, again.record.input_tokens) == ("A", 2, 10)


def test_a_stream_is_kept_before_it_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    models = KeptReplies(path).around({"solver": Scripted(["one"], name="m")})
    stream = models["solver"].stream(HELLO, Sampling())
    assert [next(stream), next(stream)] == ["one", Reply("one")]
    assert KeptReplies(path).around(models)["solver"].complete(HELLO, Sampling()) == Reply("one")


def test_roles_have_replies_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    first = KeptReplies(path).around({"critic": Scripted(["one"]), "refiner": Scripted(["two"])})
    for model in first.values():
        model.complete(HELLO, Sampling())
    again = KeptReplies(path).around({"refiner": Scripted(["three"]), "critic": Scripted(["four"])})
    assert [model.complete(HELLO, Sampling()).text for model in again.values()] == ["two", "one"]


def take_texts(replies: KeptReplies, count: int) -> list[str]:
    """The replies to so many equal requests; those of the model are `new`."""
    (model,) = replies.around({"solver": Scripted(["new"] * count)}).values()
    return [model.complete(HELLO, Sampling()).text for _ in range(count)]


def test_a_line_that_was_cut_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    keep(KeptReplies(path), "one")
    path.write_bytes(path.read_bytes() + path.read_bytes()[:20])
    assert take_texts(KeptReplies(path), 2) == ["one", "new"]


def test_a_reply_after_a_line_that_was_cut_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    keep(KeptReplies(path), "one")
    path.write_bytes(path.read_bytes()[:20])
    keep(KeptReplies(path), "two")
    assert take_texts(KeptReplies(path), 2) == ["two", "new"]


def test_a_file_in_which_newlines_end_the_lines_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    keep(KeptReplies(path), "one")
    path.write_bytes(path.read_bytes().removeprefix(b"\n") + b"\n")
    again = KeptReplies(path)
    for text in ("found", "two"):
        keep(again, text)
    assert take_texts(KeptReplies(path), 3) == ["one", "two", "new"]


def test_a_reply_that_holds_a_secret_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    kept = KeptReplies(path, ["sk-very-long-secret"])
    kept.around({"solver": Scripted(["it is sk-very-long-secret"])})["solver"].complete(HELLO, Sampling())
    assert not path.exists()


def keep(replies: KeptReplies, text: str) -> None:
    replies.around({"solver": Scripted([text])})["solver"].complete(HELLO, Sampling())


@pytest.fixture
def reused(tmp_path: Path) -> tuple[Path, ReplyFolder]:
    """A folder in which the sample `later` has the file that the sample `earlier` no longer needs."""
    replies = ReplyFolder(tmp_path)
    keep(replies.open("earlier"), "one")
    replies.remove("earlier")
    keep(replies.open("later"), "two")
    return tmp_path, replies


def test_the_file_of_a_recorded_sample_is_used_for_a_later_one(reused: tuple[Path, ReplyFolder]) -> None:
    folder, _ = reused
    assert [path.name for path in folder.iterdir()] == ["later.jsonl"]


def test_a_file_that_is_used_again_holds_no_earlier_reply(reused: tuple[Path, ReplyFolder]) -> None:
    _, replies = reused
    (model,) = replies.open("later").around({"solver": Scripted(["three", "four"])}).values()
    assert [model.complete(HELLO, Sampling()).text for _ in range(2)] == ["two", "three"]


def test_a_reply_that_was_kept_is_never_renamed_over(tmp_path: Path) -> None:
    replies = ReplyFolder(tmp_path)
    keep(replies.open("open"), "one")
    keep(replies.open("recorded"), "two")
    replies.remove("recorded")
    again = replies.open("open")
    (model,) = again.around({"solver": Scripted(["three", "four"])}).values()
    assert [model.complete(HELLO, Sampling()).text for _ in range(2)] == ["one", "three"]
    assert take_texts(replies.open("open"), 3) == ["one", "three", "new"]


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_an_empty_file_that_a_killed_run_left_is_removed_at_the_end(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "killed.jsonl").write_bytes(content)
    ReplyFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def run_one(folder: Path, *replies: str | Reply | ModelError) -> None:
    model = Scripted(["ready", *replies], name="m")
    run.run(a_plan(folder, made(1), model, workers=1, settings={"strategy": "code_loop"}), Quiet())


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """How many files of replies an interrupted run kept, and its folder after it was resumed."""
    folder = tmp_path_factory.mktemp("resumed")
    run_one(folder, CELL, ModelError("no route"))
    kept = len(list((folder / REPLIES).iterdir()))
    run_one(folder, "\\boxed{A}")
    return kept, folder


def test_an_interrupted_experiment_keeps_the_replies_of_an_open_sample(resumed: tuple[int, Path]) -> None:
    kept, _ = resumed
    assert kept == 1


def test_a_resumed_experiment_uses_the_kept_replies(resumed: tuple[int, Path]) -> None:
    _, folder = resumed
    assert [(record.answer, record.turns) for record in records_in(folder)] == [("A", 2)]


def test_a_resumed_experiment_removes_the_kept_replies(resumed: tuple[int, Path]) -> None:
    _, folder = resumed
    assert list((folder / REPLIES).iterdir()) == []


@pytest.mark.parametrize(
    ("wait_s", "lines"), [(3600.0, ["503 from x; samples wait, up to 3,600 s"]), (5.0, [])]
)
def test_a_long_wait_is_reported_once(wait_s: float, lines: list[str]) -> None:
    watcher = Quiet()
    waits = run._LongWaits(watcher.tell)
    for attempt in (2, 3):
        waits.watch(ReplyRestarted("solver", "503 from x", attempt, wait_s))
    assert watcher.lines == lines
