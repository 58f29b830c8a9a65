from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pyvision.runs.listing import find_run, list_runs
from tests.cli.conftest import Command
from tests.cli.running import ANSWER, scripted


@pytest.fixture
def two_runs(tmp_path: Path, photo: Path, command: Command) -> Path:
    """runs/one and runs/two, in the working folder; the second is newer."""
    reply = f"It shows an ostrich.\n{ANSWER}"
    for age, (name, question) in enumerate([("two", "How high is the wall?"), ("one", "How wide?")]):
        config = scripted(tmp_path, reply if name == "one" else ANSWER)
        command(question, str(photo), "--config", config, "-s", "direct", "--out", f"runs/{name}")
        os.utime(tmp_path / "runs" / name / "events.jsonl", (1000 - age, 1000 - age))
    return tmp_path / "runs"


def test_runs_are_listed_newest_first(two_runs: Path, command: Command) -> None:
    done = command("logs")
    lines = done.stdout.splitlines()
    assert [" · runs/two · scripted" in lines[0], " · runs/one · scripted" in lines[2]] == [True, True]
    assert lines[1] == "    How high is the wall? → 64"


def test_a_listing_as_json_has_one_object_per_line(two_runs: Path, command: Command) -> None:
    rows = [json.loads(line) for line in command("logs", "list", "--json").stdout.splitlines()]
    assert [(row["question"], row["answer"]) for row in rows][1] == ("How wide?", "64")


@pytest.mark.parametrize("flag", ["-n", "--count"])
def test_a_long_listing_says_how_many_are_left_out(two_runs: Path, command: Command, flag: str) -> None:
    done = command("logs", flag, "1")
    assert (len(done.stdout.splitlines()), "1 more" in done.stderr) == (2, True)


def test_a_search_finds_what_a_model_wrote(two_runs: Path, command: Command) -> None:
    found = command("logs", "search", "OSTRICH").stdout
    assert ("runs/one" in found, "runs/two" in found) == (True, False)


def test_a_run_is_shown_by_a_part_of_its_name(two_runs: Path, command: Command) -> None:
    shown = command("logs", "show", "on").stdout
    assert "It shows an ostrich." in shown
    assert shown.endswith("64\n")


def test_opening_a_run_writes_its_report(
    two_runs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert command("logs", "open").stdout == "runs/two/report.html\n"
    assert opened == [(two_runs / "two" / "report.html").as_uri()]


def test_the_last_run_is_reported_without_its_name(
    two_runs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    done = command("report", "--last", "--open")
    assert (done.returncode, done.stdout) == (0, "runs/two/report.html\n")
    assert "no browser could be opened" in done.stderr


def test_a_part_of_its_name_chooses_a_run(two_runs: Path, command: Command) -> None:
    assert command("export", "ne", "--to", "swift").stdout == "runs/one/exports/swift/swift.jsonl\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logs", "show", "nowhere"), "no run matches 'nowhere'"),
        (("logs", "show", "o"), "2 runs match 'o'"),
        (("report",), "give one run"),
        (("replay",), "give one run"),
        (("verify",), "give one run"),
        (("export", "--to", "atif"), "give one run"),
        (("report", "runs/one", "--last"), "give one run"),
        (("logs", "shwo"), "did you mean show?"),
    ],
)
def test_a_run_that_is_not_found_is_one_line(
    two_runs: Path, command: Command, arguments: tuple[str, ...], message: str
) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_without_runs_the_list_is_empty(tmp_path: Path, command: Command) -> None:
    done = command("logs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no runs in 'runs'\n")


def test_a_search_that_finds_nothing_names_what_was_searched(tmp_path: Path, command: Command) -> None:
    done = command("logs", "search", "zebra", "--dir", str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "",
        f"no run with 'zebra' in {str(tmp_path)!r}\n",
    )


@pytest.mark.parametrize(
    "record", ["", "{}", "{}\n[]\n", "{}\n" + '{"question": {"text": 1' * 1000, "\n" * 10]
)
def test_folders_that_are_no_runs_are_skipped(tmp_path: Path, record: str) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "events.jsonl").write_text(record, encoding="utf-8")
    assert [info.question for info in list_runs(tmp_path)] in ([], [""])


def test_a_run_is_found_by_its_path(two_runs: Path) -> None:
    assert find_run(str(two_runs / "one"), Path("elsewhere")) == two_runs / "one"


def test_a_whole_name_is_found_beside_longer_ones(two_runs: Path) -> None:
    (two_runs / "one").rename(two_runs / "two-again")
    assert find_run("two", two_runs) == two_runs / "two"
