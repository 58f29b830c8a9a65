from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.isolation.interpreter import Interpreter, font_lists


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (path,) = font_lists(Interpreter.current())
    assert path.is_relative_to(tmp_path)
    return path


def test_the_list_is_made_once(made: Path) -> None:
    before = made.stat().st_mtime_ns
    assert font_lists(Interpreter.current()) == (made,)
    assert made.stat().st_mtime_ns == before


def test_every_user_may_read_the_list(made: Path) -> None:
    assert made.stat().st_mode & 0o444 == 0o444


def test_of_two_that_make_it_at_once_the_second_leaves_the_list_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def seen() -> int:
        (made,) = font_lists(Interpreter.current())
        return made.stat().st_ino

    with ThreadPoolExecutor() as threads:
        first, second = threads.submit(seen), threads.submit(seen)
        assert first.result() == second.result() == seen()


def test_without_a_cache_folder_there_are_no_font_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert font_lists(Interpreter.current()) == ()
