"""The results of an experiment as they are written and read."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.experiment import differences
from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Finished, Job
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.runner.run_folders import run_name
from pyvision.bench.samples import JudgeInfo, Record, Sample, Score
from pyvision.bench.store import DATABASE, PICTURES, RUNS, Store
from pyvision.errors import ConfigError, EndReason, RunFolderError
from pyvision.events import Event, RunEnded, RunStarted
from pyvision.trajectory import IMAGES, SUMMARY, read_trajectory
from pyvision.types import Outcome, Question, Usage
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, made, source_of
from tests.doubles import picture


def events_of(answer: str | None = "A", why: str | None = None) -> tuple[Event, ...]:
    question = Question("?", (picture(),))
    outcome = Outcome(answer, "answered" if answer else "model_error", why)
    return RunStarted(question, "direct", {"default": "knowing"}), RunEnded(outcome, Usage(), 1, 0, 0.5)


def a_result(
    sample: Sample | None = None, answer: str | None = "A", why: str | None = None, attempt: int = 1
) -> Finished:
    sample = sample or a_sample(0)
    reason: EndReason = "answered" if answer else "model_error"
    record = Record(sample.id, 0, sample.category, answer, reason, why, 5, 6, 4, 0.25, 1.5, 2, 3, 1, 99)
    return Finished(Job(sample, 0, attempt), record, events_of(answer, why))


def recorder(folder: Path, secrets: tuple[str, ...] = ()) -> Recorder:
    return Recorder(folder, {"limit": 3}, metric="choice:exact", secrets=secrets)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    sample = a_sample(0, metadata={"box": [1, 2, 3, 4]}, target=["A", "a"], context="It is late.")
    done = a_result(sample)
    with recorder(tmp_path) as writer:
        writer.write(done, Score(1.0, "equal", "A"))
    with Store(tmp_path) as store:
        assert list(store.records()) == [done.record]
        assert store.scores() == {("sample 0", 0): Score(1.0, "equal", "A")}
        (stored,) = store.samples()
        folder = store.run_folder("sample 0")
    assert (stored.target, stored.metadata, stored.choices) == (
        ["A", "a"],
        {"box": [1, 2, 3, 4]},
        sample.choices,
    )
    assert folder is not None
    assert read_trajectory(folder).events == done.events


JUDGED = Score(
    1.0,
    "judge a: b, judge/equal.md 01234567: RIGHT",
    None,
    JudgeInfo("a: b", "judge/equal.md", "01234567", "RIGHT"),
)
UNREADABLE = Score(
    None,
    "judge m, judge/equal.md 01234567: no verdict could be read",
    None,
    JudgeInfo("m", "judge/equal.md", "01234567", None),
    "no verdict",
)
FAILED = Score(None, "the metric failed: ValueError: x: y", unscored="the metric failed")
SCORES = [Score(0.5, "half", "A"), JUDGED, UNREADABLE, FAILED]


@pytest.mark.parametrize("score", SCORES)
def test_a_score_is_read_as_it_was_written(tmp_path: Path, score: Score) -> None:
    with recorder(tmp_path) as writer:
        writer.write(a_result(), score)
    assert scores_in(tmp_path) == {("sample 0", 0): score}


@pytest.mark.parametrize("score", SCORES)
def test_a_score_of_an_older_database_is_read(tmp_path: Path, score: Score) -> None:
    assert scores_in(old_database(tmp_path, score)) == {("sample 0", 0): score}


@pytest.mark.parametrize("score", SCORES)
def test_an_older_database_can_be_extended(tmp_path: Path, score: Score) -> None:
    with recorder(old_database(tmp_path, score)) as writer:
        writer.write(a_result(a_sample(1)), JUDGED)
    assert scores_in(tmp_path) == {("sample 0", 0): score, ("sample 1", 0): JUDGED}


def scores_in(folder: Path) -> dict[tuple[str, int], Score]:
    with Store(folder) as store:
        return dict(store.scores())


def old_database(folder: Path, score: Score) -> Path:
    """One with that score, from before scores had columns for judges and failures."""
    with recorder(folder) as writer:
        writer.write(a_result(), score)
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        for column in ("judge", "unscored"):
            database.execute(f"ALTER TABLE scores DROP COLUMN {column}")
        database.commit()
    return folder


def test_images_are_stored_once_for_all_runs(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer:
        for number in range(3):
            writer.write(a_result(a_sample(number)), Score(1.0))
    (shared,) = (tmp_path / PICTURES).iterdir()
    with Store(tmp_path) as store:
        assert [sample.images for sample in store.samples()] == [(shared,)] * 3
    assert shared.read_bytes() == picture().data


def test_the_database_is_a_single_file_after_closing(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer:
        writer.write(a_result(), Score(1.0))
    assert sorted(path.name for path in tmp_path.glob("results.sqlite*")) == [DATABASE]


def test_records_can_be_read_while_they_are_written(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer, Store(tmp_path) as store:
        writer.write(a_result(), Score(1.0))
        assert [record.sample_id for record in store.records()] == ["sample 0"]
        writer.write(a_result(a_sample(1)), Score(1.0))
        assert [record.sample_id for record in store.records()] == ["sample 0", "sample 1"]


def test_a_later_attempt_replaces_the_earlier_record_but_not_its_run(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer:
        writer.write(a_result(answer=None, why="no route"), Score(None, "model_error"))
        writer.write(a_result(a_sample(1)), Score(1.0))
        writer.write(a_result(attempt=2), Score(1.0))
    with Store(tmp_path) as store:
        assert [record.answer for record in store.records()] == ["A", "A"]
        assert store.attempts() == {("sample 0", 0): 2, ("sample 1", 0): 1}
        assert len(store.scores()) == 2
    assert len(list((tmp_path / RUNS).iterdir())) == 3


def test_a_run_folder_without_a_record_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / RUNS / run_name(Job(a_sample(0), 0))
    left.mkdir(parents=True)
    (left / "events.jsonl").write_text("half a li", encoding="utf-8")
    with recorder(tmp_path) as writer:
        writer.write(a_result(), Score(1.0))
    assert read_trajectory(left).events == events_of()


@pytest.fixture
def two_runs(tmp_path: Path) -> list[Path]:
    """The run folders of two samples with the same image."""
    with recorder(tmp_path) as writer:
        for number in range(2):
            writer.write(a_result(a_sample(number)), Score(1.0))
    return sorted((tmp_path / RUNS).iterdir())


def test_run_folders_share_one_link_to_the_images(two_runs: list[Path]) -> None:
    first, second = ((run / IMAGES).lstat() for run in two_runs)
    assert (first.st_ino, first.st_nlink) == (second.st_ino, 2)


def test_a_run_folder_stays_readable_without_the_one_it_shares_the_link_with(two_runs: list[Path]) -> None:
    shutil.rmtree(two_runs[0])
    assert read_trajectory(two_runs[1]).events == events_of()


def test_a_run_is_linked_to_the_images_after_the_run_before_it_is_gone(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer:
        writer.write(a_result(), Score(1.0))
        shutil.rmtree(tmp_path / RUNS / run_name(Job(a_sample(0), 0)))
        writer.write(a_result(a_sample(1)), Score(1.0))
    assert read_trajectory(tmp_path / RUNS / run_name(Job(a_sample(1), 0))).events == events_of()


def test_the_run_of_a_benchmark_has_a_summary(two_runs: list[Path]) -> None:
    assert [json.loads((run / SUMMARY).read_bytes())["answer"] for run in two_runs] == ["A", "A"]


def test_no_secret_is_written_to_the_folder(tmp_path: Path) -> None:
    secret = "the key sk-very-secret is refused"
    with recorder(tmp_path, secrets=("sk-very-secret",)) as writer:
        quoted = {
            "text": f"Is {secret}?",
            "choices": (secret, "B"),
            "target": [secret],
            "metadata": {"by": [secret]},
        }
        done = a_result(a_sample(0, **quoted), answer=secret, why=secret)
        writer.write(done, Score(0.0, secret, secret))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sk-very-secret" not in path.read_bytes(), path


@pytest.mark.parametrize("key", ["x", "text", "A", "answered", "sample"])
def test_a_short_key_changes_no_record(tmp_path: Path, key: str) -> None:
    done = a_result(a_sample(0, metadata={"text": "x"}))
    with recorder(tmp_path, secrets=(key,)) as writer:
        writer.write(done, Score(1.0, "equal", "A"))
    with Store(tmp_path) as store:
        assert list(store.records()) == [done.record]
        (stored,) = store.samples()
        folder = store.run_folder("sample 0")
    assert (stored.text, stored.metadata) == (a_sample(0).text, {"text": "x"})
    assert folder is not None
    assert read_trajectory(folder).events == done.events


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_id_gives_a_safe_folder_name(sample_id: str) -> None:
    name = run_name(Job(a_sample(0, id=sample_id), 3))
    assert name == Path(name).name
    assert name not in {".", ".."}
    assert name.isascii()
    assert "\0" not in name
    assert len(name) < 100


def test_similar_ids_have_different_folders() -> None:
    names = {run_name(Job(a_sample(0, id=each), 0)) for each in ("a/b", "a b", "a_b", "../a_b", "A_b")}
    assert len(names) == 5


@pytest.mark.parametrize("hostile", ["../../etc", "a\0b", "<b>\n", "ä" * 250, "'; DROP TABLE records; --"])
def test_a_hostile_id_is_read_back_unchanged(tmp_path: Path, hostile: str) -> None:
    run.run(a_plan(tmp_path, source_of(a_sample(0, id=hostile)), Knowing()), Quiet())
    with Store(tmp_path) as store:
        assert [record.sample_id for record in store.records()] == [hostile]
        folder = store.run_folder(hostile)
    assert folder is not None
    assert folder.parent == tmp_path / RUNS


def test_lone_surrogates_of_an_answer_are_replaced(tmp_path: Path) -> None:
    with recorder(tmp_path) as writer:
        writer.write(a_result(answer="A\ud800"), Score(0.0))
    with Store(tmp_path) as store:
        assert [record.answer for record in store.records()] == ["A\ufffd"]


def test_a_folder_without_an_experiment_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no experiment; `bench run"):
        Store(tmp_path)


def test_a_file_that_is_not_a_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(RunFolderError, match="file is not a database"):
        Store(tmp_path)


def test_a_database_of_a_later_release_is_an_error(tmp_path: Path) -> None:
    with recorder(tmp_path):
        pass
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute("UPDATE experiment SET value = '99' WHERE key = 'version'")
    database.commit()
    database.close()
    with pytest.raises(ConfigError, match="pyvision-benchmark 99; this release reads"):
        Store(tmp_path)


def test_asking_for_an_unused_metric_is_an_error(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(1), Knowing()), Quiet())
    with Store(tmp_path) as store, pytest.raises(ConfigError, match="scores exist by choice:exact"):
        store.scores("vqa:paper")


def sample_with(**changes: object) -> Finished:
    return a_result(a_sample(0, **changes))


def counted(finished: Finished, **changes: object) -> Finished:
    return replace(finished, record=replace(finished.record, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (sample_with(target=object()), "its target cannot be written as JSON"),
        (sample_with(metadata={("a", 1): 2}), "TypeError: keys must be"),
        (sample_with(id="sample \ud800"), "UnicodeEncodeError"),
        (counted(a_result(), input_tokens=2**63), "OverflowError"),
        (counted(a_result(), answer=["A"]), "ProgrammingError"),
    ],
    ids=["target", "metadata", "id", "tokens", "answer"],
)
def test_what_cannot_be_recorded_becomes_an_error_record_of_its_sample(
    tmp_path: Path, bad: Finished, why: str
) -> None:
    with recorder(tmp_path) as writer:
        writer.commit(
            [writer.prepare(each, lambda record, sample: Score(1.0)) for each in (bad, a_result(a_sample(1)))]
        )
    with Store(tmp_path) as store:
        failed, whole = store.records()
    assert (failed.end_reason, whole.end_reason) == ("error", "answered")
    assert failed.sample_id.startswith("sample ")
    assert "it cannot be recorded: " in (failed.error or "")
    assert why in (failed.error or "")


def test_a_metric_that_fails_in_any_way_becomes_an_error_record(tmp_path: Path) -> None:
    def grade(record: Record, sample: Sample) -> Score:
        raise RecursionError("too deep")

    with recorder(tmp_path) as writer:
        writer.commit([writer.prepare(a_result(), grade)])
    with Store(tmp_path) as store:
        (failed,) = store.records()
    assert failed.error == "it cannot be recorded: RecursionError: too deep"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, ()),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, ("a.c: 2 -> 3",)),
        ({"a": {}}, {"a": {"b": None}}, ("a.b: (absent) -> null",)),
        ({"a": "x"}, {}, ('a: "x" -> (absent)',)),
        ({"a": [1]}, {"a": [1, 2]}, ("a: [1] -> [1, 2]",)),
    ],
)
def test_a_difference_names_the_setting_with_both_values(
    old: dict[str, object], new: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert differences(old, new) == expected


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3),
)


@given(st.dictionaries(st.text("ab", max_size=2), plain), st.dictionaries(st.text("ab", max_size=2), plain))
def test_only_equal_configurations_have_no_difference(old: dict[str, object], new: dict[str, object]) -> None:
    is_same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert (differences(old, new) == ()) == is_same
