"""A damaged database of an experiment is named as such, and restored by `bench recover`."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pyvision.bench.database_repair import recover
from pyvision.bench.runner import run
from pyvision.bench.store import DATABASE, Store
from pyvision.cli.main import main
from pyvision.errors import ConfigError, PyVisionError
from tests.bench.runs import Knowing, Quiet, a_plan, contents, made, records_in

COUNT = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run.run(a_plan(folder, made(COUNT), Knowing({7: "\\boxed{C}"})), Quiet())
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "copy", symlinks=True)
    return tmp_path / "copy"


def overwrite(start: float, length: int) -> Callable[[Path], None]:
    """Damage that many bytes from this share of the file on."""

    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        at = int(len(data) * start)
        data[at : at + length] = b"\xff" * min(length, len(data) - at)
        path.write_bytes(data)

    return damage


def cut(share: float) -> Callable[[Path], None]:
    """Keep only this share of the file."""

    def damage(path: Path) -> None:
        os.truncate(path, int(path.stat().st_size * share))

    return damage


def forget_configuration(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM experiment")
        database.commit()


DAMAGES = {
    "no header": overwrite(0, 100),
    "an overwritten page": overwrite(0.4, 4096),
    "overwritten pages": overwrite(0.3, 20_000),
    "cut": cut(0.5),
    "cut to nothing": cut(0),
    "no configuration": forget_configuration,
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_after_recovery_no_sample_is_asked_again(folder: Path, whole: Path, kind: str) -> None:
    DAMAGES[kind](folder / DATABASE)
    recover(folder)
    model = Knowing()
    run.run(a_plan(folder, made(COUNT), model), Quiet())
    assert model.asked == []
    assert contents(folder) == contents(whole)


@pytest.mark.parametrize("kind", ["no header", "cut", "cut to nothing", "no configuration"])
def test_a_damaged_database_names_the_command_that_restores_it(folder: Path, kind: str) -> None:
    DAMAGES[kind](folder / DATABASE)
    with pytest.raises(PyVisionError, match="pyvision bench recover") as raised:
        run.run(a_plan(folder, made(COUNT), Knowing()), Quiet())
    assert "make room" not in str(raised.value)


def test_a_damaged_page_names_the_command_that_restores_it(folder: Path) -> None:
    DAMAGES["overwritten pages"](folder / DATABASE)
    with pytest.raises(PyVisionError, match="pyvision bench recover"), Store(folder) as store:
        list(store.records()), list(store.samples()), store.scores()


def test_what_can_be_read_is_restored_without_the_dataset(folder: Path) -> None:
    before = {record.sample_id: record for record in records_in(folder)}
    DAMAGES["an overwritten page"](folder / DATABASE)
    found = recover(folder)
    after = records_in(folder)
    assert len(after) == found.records
    assert len(after) > 0
    assert all(before[record.sample_id] == record for record in after)


def test_the_damaged_database_is_kept(folder: Path) -> None:
    DAMAGES["no header"](folder / DATABASE)
    damaged = (folder / DATABASE).read_bytes()
    assert recover(folder).damaged == folder / "results.damaged-1.sqlite"
    assert (folder / "results.damaged-1.sqlite").read_bytes() == damaged


def test_a_recovery_that_was_killed_can_be_repeated(folder: Path) -> None:
    DAMAGES["an overwritten page"](folder / DATABASE)
    (folder / DATABASE).rename(folder / "results.damaged-1.sqlite")
    assert recover(folder).records > 0


def test_an_intact_database_stays_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "recover", str(folder)]) == 0
    assert capsys.readouterr().out == f"{COUNT} records are intact\n"
    assert not list(folder.glob("results.damaged*"))


def test_a_folder_without_an_experiment_cannot_be_recovered(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()  # those of single questions
    with pytest.raises(ConfigError, match="holds no experiment"):
        recover(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
