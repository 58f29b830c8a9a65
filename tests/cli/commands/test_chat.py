"""Conversations with a scripted model, typed through a pipe; one on a real pseudo-terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from pyvision.cli.terminal import Piped
from tests.cli.conftest import Command
from tests.cli.running import ANSWER, scripted

KEEP = "<code>\n```python\nkept = image_clue_0.width\nprint('first', kept)\n```\n"
ASK = "<code>\n```python\nprint('kept is', kept)\n```\n"
SECOND = "<answer>\n\\boxed{48}\n</answer>"


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.fixture
def chat(command: Command, photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Types lines in a chat about a photo with these replies; further arguments end with `--`."""

    def run(replies: list[str], *lines: str, arguments: tuple[str, ...] = ()) -> object:
        typed(monkeypatch, *lines)
        return command("chat", *(arguments or (str(photo),)), "--config", scripted(tmp_path, *replies))

    return run  # type: ignore[return-value]


def test_each_question_prints_its_answer(chat: Command) -> None:
    done = chat([ANSWER, SECOND], "How wide?", "", "How high?")
    assert (done.returncode, done.stdout) == (0, "64\n48\n")


def test_a_piped_chat_whose_last_question_failed_says_so_by_its_exit_code(chat: Command) -> None:
    done = chat([ANSWER], "How wide?", "And no reply is left?")
    assert (done.returncode, done.stdout) == (4, "64\n")


@pytest.mark.slow
def test_a_later_question_uses_the_same_kernel(chat: Command) -> None:
    assert "kept is 64" in chat([KEEP, ANSWER, ASK, SECOND], "How wide?", "And now?").stderr


def test_an_undone_question_is_not_sent_again(chat: Command, tmp_path: Path) -> None:
    chat([ANSWER, SECOND], "FIRST", "/undo", "How high?", arguments=("photo.png", "--out", "out"))
    assert "FIRST" not in (tmp_path / "out" / "1" / "events.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_edited_cell_runs_in_place_of_the_old_one(chat: Command) -> None:
    done = chat([KEEP, ANSWER, SECOND], "How wide?", "/code 1", "print('edited')", "", "/quit")
    assert "│ edited" in done.stderr
    assert done.stdout == "64\n48\n"


def test_an_image_joins_the_next_question(chat: Command, photo: Path) -> None:
    done = chat([ANSWER], f"/image '{photo}'", "How many images?")
    assert "1 image added" in done.stderr
    assert "image_clue_1" in done.stderr


def test_a_report_of_the_last_question_is_written(chat: Command, tmp_path: Path) -> None:
    chat([ANSWER], "How wide?", "/report", arguments=("photo.png", "--out", "out"))
    assert "How wide?" in (tmp_path / "out" / "0" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/undo", "no question to forget"),
        ("/code", "there is no cell yet"),
        ("/image", "/image needs an image"),
        ("/image nowhere.png", "there is no such file"),
        ("/image 'a", "close the quotation"),
        ("/report", "ask a question first"),
        ("/nonsense", "unknown command /nonsense; /help"),
        ("/help", "/undo            forget the last question"),
    ],
)
def test_a_command_answers_in_words(chat: Command, line: str, message: str) -> None:
    done = chat([], line)
    assert (done.returncode, done.stdout) == (0 if line == "/help" else 2, "")
    assert message in done.stderr


def test_a_chat_continues_the_newest_run(chat: Command, tmp_path: Path) -> None:
    chat([ANSWER], "How wide?")
    done = chat([SECOND], "And now?", arguments=("--continue", "--out", "out"))
    assert "continued from runs/chat-" in done.stderr
    assert "How wide?" in (tmp_path / "out" / "0" / "events.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_continued_chat_has_the_variables(chat: Command) -> None:
    chat([KEEP, ANSWER], "How wide?")
    done = chat([ASK, SECOND], "And now?", arguments=("--continue",))
    assert "kept is 64" in done.stderr
    assert done.stdout == "48\n"


def test_continuing_without_a_run_is_refused(chat: Command) -> None:
    done = chat([], arguments=("-c",))
    assert (done.returncode, "no run is recorded in 'runs'" in done.stderr) == (2, True)


def test_a_line_that_ends_in_a_backslash_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "one \\", "two", "three")
    lines = Piped()
    assert [lines.read(""), lines.read(""), lines.read("")] == ["one \ntwo", "three", None]


@pytest.mark.slow
def test_a_chat_on_a_terminal_keeps_its_history(tmp_path: Path, photo: Path) -> None:
    config = scripted(tmp_path, ANSWER)
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm", "PYTHONPATH": os.getcwd()}  # noqa: PTH109
    arguments = [sys.executable, "-m", "pyvision", "chat", str(photo), "--config", config]
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ) as chat:
        os.close(theirs)
        seen = b""
        os.write(ours, b"How wide?\r")
        while b"\x1b[?2004h" not in seen.partition(b"1 turn")[2]:  # the next prompt, in raw mode
            seen += os.read(ours, 4096)
        os.write(ours, b"\x04")
        chat.wait(60)
    os.close(ours)
    assert chat.returncode == 0
    history = tmp_path / ".local" / "state" / "pyvision" / "history"
    assert "+How wide?" in history.read_text(encoding="utf-8")
    assert json.dumps(oct(history.stat().st_mode & 0o777)) == '"0o600"'
