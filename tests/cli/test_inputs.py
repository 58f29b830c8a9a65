"""The words of a command line: which is the question, which are images, and where both may come from."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.cli.inputs import find_images, is_image, read_inputs
from pyvision.cli.main import parse
from pyvision.errors import ConfigError
from tests.cli.conftest import Command
from tests.cli.running import ANSWER, scripted
from tests.doubles import png


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with images whose names are numbered."""
    for name in ("page10.png", "page9.png", "page11.JPG"):
        (tmp_path / name).write_bytes(png())
    (tmp_path / "notes.txt").write_text("no image", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *, is_terminal: bool = False) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: is_terminal)
    monkeypatch.setattr("sys.stdin", stdin)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["How many?", "page9.png"], ("How many?", ("page9.png",))),
        (["-m", "offline", "How many?", "page9.png"], ("How many?", ("page9.png",))),
        (
            ["How many?", "-m", "offline", "page9.png", "page10.png"],
            ("How many?", ("page9.png", "page10.png")),
        ),
        (["How many?", "--image", "page9.png", "page10.png"], ("How many?", ("page9.png", "page10.png"))),
        (["-q", "How many?", "page9.png"], ("How many?", ("page9.png",))),
        (["-q", "@notes.txt", "page9.png"], ("no image", ("page9.png",))),
        (["count", "page9.png"], ("count", ("page9.png",))),
        (["¿Cuántos?", "https://example.com/a.png"], ("¿Cuántos?", ("https://example.com/a.png",))),
        (["run", "--image", "page9.png", "--question", "?"], ("?", ("page9.png",))),
        (["?", "."], ("?", ("page9.png", "page10.png", "page11.JPG"))),
        (["?", "page1*"], ("?", ("page10.png", "page11.JPG"))),
    ],
)
def test_the_words_of_a_question_are_understood(
    folder: Path, line: list[str], expected: tuple[str, tuple[str, ...]]
) -> None:
    assert read_inputs(parse(line)) == expected


def test_an_empty_name_of_an_image_is_not_the_working_folder(folder: Path) -> None:
    with pytest.raises(ConfigError, match="image '': the name is empty"):
        read_inputs(parse(["How many?", ""]))


def test_an_image_can_come_from_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, png(3, 2))
    assert read_inputs(parse(["How many?", "-"])) == ("How many?", (png(3, 2),))


@pytest.mark.parametrize("line", [["page9.png"], ["-q", "-", "page9.png"]])
def test_the_question_can_come_from_standard_input(
    folder: Path, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, b"How many?\n")
    assert read_inputs(parse(line))[0] == "How many?\n"


def test_a_terminal_is_never_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"never typed", is_terminal=True)
    with pytest.raises(ConfigError, match="a question is missing"):
        read_inputs(parse(["page9.png"]))


def test_the_clipboard_gives_its_image(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "clip.bin").write_bytes(png(5, 4))
    paste = folder / "wl-paste"
    paste.write_text(f"#!/bin/sh\nexec cat {folder / 'clip.bin'}\n", encoding="utf-8")
    paste.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert list(find_images(["clipboard:"])) == [png(5, 4)]


def test_a_machine_without_a_clipboard_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(ConfigError, match="no clipboard can be read here"):
        list(find_images(["clipboard:"]))


@given(st.text(max_size=40))
def test_any_word_is_classified_without_an_error(word: str) -> None:
    assert is_image(word) in (True, False)


def test_a_question_alone_is_a_run(tmp_path: Path, photo: Path, command: Command) -> None:
    done = command("How wide is it?", str(photo), "--config", scripted(tmp_path, ANSWER), "--json")
    assert json.loads(done.stdout)["answer"] == "64"


def test_one_turn_is_written_in_the_singular(tmp_path: Path, photo: Path, command: Command) -> None:
    done = command("How wide is it?", str(photo), "--config", scripted(tmp_path, ANSWER))
    assert "1 turn, 0 cells" in done.stderr


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (["rpeort", "runs/x"], "unknown command 'rpeort'; did you mean report?"),
        (["bench", "rnu"], "pyvision bench: unknown command 'rnu'; did you mean run?"),
        (["bench", "list", "--metrcs"], "unknown argument '--metrcs'; did you mean --metrics?"),
        (["logs", "--cuont", "1"], "unknown argument '--cuont'; did you mean --count?"),
        (["run", "--qestion", "?"], "unknown argument '--qestion'; did you mean --question?"),
        (["rnu", "How many?", "photo.png"], "unknown command 'rnu'; did you mean run?"),
        (["completions", "bahs"], "unknown value 'bahs'; did you mean 'bash'?"),
        (["completions", "tcsh"], "unknown value 'tcsh'; choose one of bash, zsh, fish"),
        (["demo", "--at-once", "0"], "'0' is not a positive integer"),
        (["demo", "--at-once", "9" * 30], "is too large; give at most"),
        (["demo", "--idle", "-1"], "'-1' is not a positive number"),
        (["demo", "--port", "70000"], "'70000' is not a port; give a number from 0 to 65535"),
        (["demo", "--root-path", "vision"], "'vision' is not a URL path; a URL path begins with /"),
        (["-x"], "unknown argument '-x'"),
        (["nonsense"], "unknown command 'nonsense'; see pyvision --help"),
        ([], "no question or command is given"),
    ],
)
def test_a_mistyped_word_names_the_nearest_one(
    line: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(line)
    (message,) = capsys.readouterr().err.splitlines()
    assert (ended.value.code, hint in message) == (2, True)


def test_a_file_that_looks_like_a_flag_is_answered_with_its_safe_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-dash.png").write_bytes(png())
    with pytest.raises(SystemExit):
        parse(["How many?", "-dash.png"])
    assert "unknown argument '-dash.png'; give the file as ./-dash.png" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        (["help"], "QUESTION IMAGE"),
        (["help", "logs"], "pyvision logs"),
        (["help", "bench", "run"], "pyvision bench run"),
    ],
)
def test_help_is_a_command_too(line: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parse(line)
    assert usage in capsys.readouterr().out.splitlines()[0]
