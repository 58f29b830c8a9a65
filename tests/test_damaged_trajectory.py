"""Folders of runs that cannot be used: taken or forbidden ones, damaged files, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import dedent

import pytest

from pyvision.errors import RunFolderError
from pyvision.events import (
    ModelCall,
    Note,
)
from pyvision.trajectory import TrajectoryWriter, read_trajectory
from pyvision.types import (
    Message,
    Reply,
    Text,
)
from tests.test_trajectory import EVENTS, write_run


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(RunFolderError) as caught:
        action()
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_a_folder_that_holds_a_run_is_refused_unchanged(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    assert "already holds a run; choose another --out" in refusal(lambda: TrajectoryWriter(folder, {}))
    assert read_trajectory(folder).events == EVENTS


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert read_trajectory(write_run(tmp_path / "run")).events == EVENTS


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        assert "choose another --out" in refusal(partial(TrajectoryWriter, folder, {}))


@pytest.mark.parametrize("folder", ["/proc/pyvision-run", "/dev/null/run", "/tmp/a\0b", "/tmp/" + "x" * 300])
def test_a_folder_that_cannot_be_made_is_refused(folder: str) -> None:
    assert "choose another --out" in refusal(lambda: TrajectoryWriter(Path(folder), {}))


def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    user = os.geteuid()
    os.seteuid(user or 65534)  # root may write everywhere, so meanwhile it is nobody
    try:
        message = refusal(lambda: TrajectoryWriter(tmp_path / "run", {}))
    finally:
        os.seteuid(user)
    assert "Permission denied; choose another --out" in message


def test_a_last_line_cut_short_is_dropped_with_a_note(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run") / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    read = read_trajectory(tmp_path / "run")
    assert read.events == EVENTS[:-1]
    assert read.note is not None
    assert "cut short" in read.note


def test_nothing_is_lost_before_a_cut_wherever_it_is(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run") / "events.jsonl"
    whole = path.read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole), 7):
        path.write_bytes(whole[:length] + b"\0" * (length % 3))
        events = read_trajectory(tmp_path / "run").events
        assert events == EVENTS[: len(events)]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run") / "events.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[5] = lines[5][:30]
    path.write_bytes(b"\n".join(lines))
    assert "line 6" in refusal(lambda: read_trajectory(tmp_path / "run"))


@pytest.mark.parametrize(
    "line", ['{"kind":"dreamt"}', '{"kind":"ended"}', "[]", "3", '{"kind":"asked","messages":[7]}']
)
def test_a_line_that_is_not_an_event_is_named(tmp_path: Path, line: str) -> None:
    with (write_run(tmp_path / "run") / "events.jsonl").open("a") as file:
        file.write(f"{line}\n")
    assert "line 11: not an event of this format" in refusal(lambda: read_trajectory(tmp_path / "run"))


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run") / "events.jsonl"
    path.write_text(path.read_text("utf-8").replace('"version":2', '"version":7', 1), "utf-8")
    assert "version 7; this release reads pyvision-trajectory up to 2" in refusal(
        lambda: read_trajectory(tmp_path / "run")
    )


@pytest.mark.parametrize("content", ["", "\n", "hello\n", "{}\n", "[]\n"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "events.jsonl").write_text(content)
    assert "does not begin like a trajectory" in refusal(lambda: read_trajectory(tmp_path))


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    assert "is this the folder of a run?" in refusal(lambda: read_trajectory(tmp_path))


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    for file in (write_run(tmp_path / "run") / "images").iterdir():
        file.unlink()
    assert "images/" in refusal(lambda: read_trajectory(tmp_path / "run"))


def test_no_line_leads_to_a_file_outside_the_images(tmp_path: Path) -> None:
    (tmp_path / "key.png").write_bytes(b"secret")
    event = Note("look", {"picture": {"file": "images/../../key.png"}, "other": {"file": "/etc/passwd"}})
    assert read_trajectory(write_run(tmp_path / "run", (event,))).events == (event,)


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    event = ModelCall("solver", "m", (Message("user", (Text("a\ud800b"),)),), Reply("\udfff"), 0.1)
    (read,) = read_trajectory(write_run(tmp_path / "run", (event,))).events
    assert isinstance(read, ModelCall)
    assert (read.messages[0].text, read.reply.text) == ("a\ufffdb", "\ufffd")


FILLING = dedent("""
    import sys
    from pathlib import Path
    from pyvision.errors import RunFolderError
    from pyvision.events import CellRun
    from pyvision.trajectory import TrajectoryWriter, read_trajectory
    from sandbox.results import CellResult, Figure

    folder = Path(sys.argv[1]) / "run"
    figures = [Figure(bytes([n]) * 9_000, "image/png", 1, 1) for n in range(99)]
    ran = [CellRun("x" * 3_000, CellResult("ok", (figure,))) for figure in figures]
    done = 0
    with TrajectoryWriter(folder, {}) as writer:
        try:
            for event in ran:
                writer.write(event)
                done += 1
        except RunFolderError as error:
            print(error)
        read = read_trajectory(folder)
        assert 0 < done < 99, done
        assert (read.events, read.note) == (tuple(ran[:done]), None)
        assert not list(folder.rglob("*.part"))
        make_room()
        writer.write(ran[-1])
    assert read_trajectory(folder).events == (*ran[:done], ran[-1])
""")


LIMITED = dedent("""
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
    def make_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
""")


FULL = dedent("""
    def make_room():
        (folder.parent / "ballast").unlink()
    import sys
    from pathlib import Path
    (Path(sys.argv[1]) / "ballast").write_bytes(bytes(100_000))
""")


def test_a_file_that_may_not_grow_keeps_its_whole_lines(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED + FILLING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"'{tmp_path}/run': File too large; choose another --out, or make room there\n"


def test_a_full_disk_takes_more_once_there_is_room(tmp_path: Path) -> None:
    small_disk = ["bwrap", "--dev-bind", "/", "/", "--size", "300000", "--tmpfs", str(tmp_path)]
    command = [*small_disk, sys.executable, "-c", FULL + FILLING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == f"'{tmp_path}/run': No space left on device; choose another --out, or make room there\n"
    )
