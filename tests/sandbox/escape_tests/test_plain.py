"""What plain Jupyter is here: all the rights of this user, but not in this user's home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.escape_tests.plain import PlainSession


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def session(home: Path) -> Iterator[PlainSession]:
    session = PlainSession(home)
    yield session
    session.close()


@pytest.mark.parametrize(
    "place",
    [
        "pathlib.Path.home()",
        "IPython.paths.get_ipython_dir()",
        "get_ipython().profile_dir.startup_dir",
        "jupyter_core.paths.jupyter_config_dir()",
        "jupyter_core.paths.jupyter_data_dir()",
        "jupyter_core.paths.jupyter_runtime_dir()",
        "matplotlib.get_configdir()",
        "matplotlib.get_cachedir()",
    ],
)
def test_it_keeps_its_own_files_below_the_home_that_it_was_given(
    session: PlainSession, home: Path, place: str
) -> None:
    result = session.run(f"import IPython, jupyter_core.paths, matplotlib, pathlib; print({place})")
    assert Path(result.text.strip()).is_relative_to(home)


def test_it_has_the_variables_of_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLAIN_KEY", "seen")
    other = PlainSession(tmp_path)
    assert other.run("import os; print(os.environ['PLAIN_KEY'])").text == "seen\n"
    other.close()
