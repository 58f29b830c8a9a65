from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.isolation.cleanup import OrphanReaper, PrivateFolder, sweep
from tests.sandbox.processes import wait_until

PROJECT = Path(__file__).parents[3]
LEAVE_ONE = (
    "import os\nfrom sandbox.isolation.cleanup import PrivateFolder\n"
    "kept = PrivateFolder()\nkept.make()\nos.kill(os.getpid(), 9)"
)


@pytest.fixture(autouse=True)
def folders(short_temp: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(short_temp))
    monkeypatch.setenv("TMPDIR", str(short_temp))
    return short_temp


def make_old(folder: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, (0, 0))


def test_a_folder_is_private(folders: Path) -> None:
    folder = PrivateFolder()
    folder.make()
    assert folder.path.is_relative_to(folders)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.close()


def test_a_folder_goes_with_all_that_it_holds(folders: Path) -> None:
    folder = PrivateFolder()
    folder.make()
    (folder.path / "image").write_bytes(b"x")
    folder.close()
    assert list(folders.iterdir()) == []


def test_a_folder_can_be_closed_twice(folders: Path) -> None:
    folder = PrivateFolder()
    folder.make()
    folder.close()
    folder.close()
    assert list(folders.iterdir()) == []


def test_the_folder_of_a_killed_host_is_swept(folders: Path) -> None:
    subprocess.run([sys.executable, "-c", LEAVE_ONE], cwd=PROJECT, check=False)
    assert len(list(folders.iterdir())) == 1
    make_old(folders)
    sweep()
    assert list(folders.iterdir()) == []


def test_a_folder_in_use_is_not_swept() -> None:
    folder = PrivateFolder()
    folder.make()
    os.utime(folder.path, (0, 0))
    sweep()
    assert folder.path.is_dir()
    folder.close()


def test_a_folder_that_is_new_is_not_swept(folders: Path) -> None:
    subprocess.run([sys.executable, "-c", LEAVE_ONE], cwd=PROJECT, check=False)
    sweep()
    assert len(list(folders.iterdir())) == 1


def test_the_reaper_forbids_forks_to_what_it_ends(tmp_path: Path) -> None:
    session = tmp_path / "groups" / "session"
    session.mkdir(parents=True)
    for name in ("cgroup.procs", "pids.max"):
        (session / name).write_text("")
    reaper = OrphanReaper(tmp_path / "folder", [tmp_path / "groups"])
    assert reaper._process.stdin is not None
    reaper._process.stdin.close()  # as if the host had ended
    while not (session / "pids.max").read_text():
        time.sleep(0.01)
    reaper.dismiss()
    assert (session / "pids.max").read_text() == "0\n"


def test_a_folder_made_right_before_the_host_was_killed_is_removed(folders: Path) -> None:
    """The reaper is there before the folder."""
    host = (
        "import os\nfrom sandbox.runtime import engine\nfrom sandbox import Policy\n"
        "engine._make_readable = lambda folder: os.kill(os.getpid(), 9)\nengine.Engine(Policy())"
    )
    killed = subprocess.run([sys.executable, "-c", host], cwd=PROJECT, check=False)
    assert killed.returncode == -9
    assert wait_until(lambda: not list(folders.iterdir()))


def test_the_reaper_removes_its_folder_alone_whatever_the_path_holds(folders: Path) -> None:
    kept, own = folders / "a", folders / "a\n b"
    kept.mkdir()
    own.mkdir()
    reaper = OrphanReaper(own)
    assert reaper._process.stdin is not None
    reaper._process.stdin.close()  # as if the host had ended
    assert wait_until(lambda: not own.exists())
    reaper.dismiss()
    assert kept.is_dir()


@pytest.mark.parametrize(
    ("setting", "message", "fix"),
    [
        ("umask 777", "Permission denied", "the umask 777 denies this user its own files: set it to 022"),
        (
            "ulimit -n 99",
            "Bad file descriptor",
            "a process may open 99 files here: raise it with ulimit -n 1024",
        ),
    ],
)
def test_a_setting_of_the_shell_that_keeps_a_kernel_from_starting_is_named(
    setting: str, message: str, fix: str
) -> None:
    program = f"from sandbox.isolation.cleanup import explain_start_error as e; print(e({message!r}))"
    command = ["sh", "-c", f'{setting}; exec "$0" -B -c "$1"', sys.executable, program]
    shown = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert f"{message}; {fix}" in shown
