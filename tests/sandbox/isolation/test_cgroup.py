"""Cgroups: real ones where this machine lets us have them, and the rules of version 2 on a made-up tree."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox
from sandbox.isolation.cgroup import Cgroups, Group, find_cgroups, sweep
from sandbox.policy import MIB
from tests.sandbox.processes import wait_until

SandboxOf = Callable[[Policy], Sandbox]
SHARED = Policy(cell_timeout_s=20)  # as other tests use it
SMALL = Policy(cell_timeout_s=20, memory_bytes=300 * MIB, file_bytes=2**31)


@pytest.fixture
def groups() -> Iterator[Cgroups]:
    found, why = find_cgroups()
    if found is None:
        pytest.skip(f"cgroups: {why}")
    yield found
    found.close()


@pytest.fixture
def needs_groups(groups: Cgroups) -> None:
    """For tests of a whole sandbox on a machine that has them."""


def start_in(group: Group, *command: str) -> subprocess.Popen[bytes]:
    procs_files = group.open_procs_files()
    enter = f"import os, sys; [os.write(file, b'0') for file in {procs_files}]; os.execvp(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", enter, *command], pass_fds=procs_files)
    for procs_file in procs_files:
        os.close(procs_file)
    return process


def test_removing_a_group_ends_what_runs_in_it(groups: Cgroups) -> None:
    group = groups.make("one", Policy())
    sleeper = start_in(group, "sleep", "60")
    pid = str(sleeper.pid)
    assert wait_until(
        lambda: all(pid in (folder / "cgroup.procs").read_text().split() for folder in group.folders)
    )
    group.remove()
    assert sleeper.wait() < 0
    assert not any(folder.exists() for folder in group.folders)


def test_closing_removes_the_groups_that_are_left(groups: Cgroups) -> None:
    groups.make("one", Policy())
    groups.close()
    groups.close()
    assert not any(folder.exists() for folder in groups.folders)


def test_a_process_killed_for_its_memory_is_reported(groups: Cgroups) -> None:
    group = groups.make("one", Policy(memory_bytes=60 * MIB))
    assert group.find_exhausted() is None
    hog = start_in(
        group, sys.executable, "-c", "b = bytearray(200 * 2**20); b[::4096] = b[::4096]; print(len(b))"
    )
    hog.wait()
    assert hog.returncode == -9
    assert group.find_exhausted() == "session"
    group.remove()


# Each child fills its memory and says so. When all have, those that were not ended for it say so again.
_MEMORY = """
import os
stay, leave = os.pipe()
children = []
for _ in range(4):
    report, report_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(leave)
        data = bytearray(100 * 2**20)
        data[::4096] = b'x' * len(data[::4096])
        os.write(report_write, b'x')
        os.read(stay, 1)
        os.write(report_write, b'x')
        os._exit(0)
    os.close(report_write)
    children.append((pid, report))
full = [os.read(report, 1) for pid, report in children]  # nothing, where the child was ended
os.close(leave)
alive = [os.read(report, 1) for pid, report in children]
for pid, report in children:
    os.waitpid(pid, 0)
print(alive.count(b'x'), 'alive')
"""


@pytest.mark.usefixtures("needs_groups")
@pytest.mark.parametrize(("policy", "fit"), [(SHARED, True), (SMALL, False)], ids=["2048 MiB", "300 MiB"])
def test_the_children_of_a_session_share_its_memory(sandbox_of: SandboxOf, policy: Policy, fit: bool) -> None:
    with sandbox_of(policy).open({}) as session:
        text = session.run(_MEMORY).text  # that of a kernel that was ended says nothing
        assert text.endswith("4 alive\n") == fit


@pytest.mark.usefixtures("needs_groups")
def test_memory_that_is_not_address_space_counts_too(sandbox_of: SandboxOf) -> None:
    code = (
        "import os\nfile = os.memfd_create('x')\n"
        "for _ in range(60):\n    os.write(file, b'x' * 10**7)\nprint('wrote it all')"
    )
    with sandbox_of(SMALL).open({}) as session:
        result = session.run(code)
        assert (result.status, result.text) == ("died", "")
        assert result.error is not None
        assert result.error.name == "OutOfMemory"
        assert "314,572,800 bytes" in result.error.message
        assert session.run("print(6 * 7)").text == "42\n"


@pytest.mark.usefixtures("needs_groups")
def test_memory_that_a_cgroup_counts_is_not_refused(sandbox: Sandbox) -> None:
    with sandbox.open({}) as session:
        result = session.run("import mmap; print(len(mmap.mmap(-1, 4096)))")
        assert (result.error, result.text) == (None, "4096\n")


@pytest.mark.usefixtures("needs_groups")
def test_a_session_keeps_no_more_processors_busy_than_it_may() -> None:
    """Two processes use 0.1 s each, which takes 1 s at a fifth of a processor; a machine under load only adds to it."""
    code = (
        "import os, time\npids = []\nbegun = time.monotonic()\nfor _ in range(2):\n    pid = os.fork()\n"
        "    if pid == 0:\n        while time.process_time() < 0.1: pass\n        os._exit(0)\n    pids.append(pid)\n"
        "for pid in pids: os.waitpid(pid, 0)\nprint(time.monotonic() - begun)"
    )
    with Sandbox(Policy(cell_timeout_s=60, cpus=0.2)) as sandbox, sandbox.open({}) as session:
        assert float(session.run(code).text.split()[-1]) > 0.6


@pytest.mark.usefixtures("needs_groups")
def test_no_group_outlives_what_it_was_made_for() -> None:
    with Sandbox() as sandbox:
        session = sandbox.open({})
        assert sandbox._engine is not None
        assert sandbox._engine.limits.groups is not None
        folders = sandbox._engine.limits.groups.folders
        assert all(any(child.is_dir() for child in folder.iterdir()) for folder in folders)
        session.close()
        assert wait_until(lambda: not any(c.is_dir() for folder in folders for c in folder.iterdir()))
    assert not any(folder.exists() for folder in folders)


@pytest.mark.usefixtures("needs_groups")
def test_the_session_that_ends_for_all_of_them_says_so() -> None:
    policy = Policy(cell_timeout_s=20, memory_bytes=900 * MIB)
    with Sandbox(policy, max_memory_bytes=300 * MIB) as sandbox, sandbox.open({}) as session:
        result = session.run("data = bytearray(500 * 2**20); data[::4096] = data[::4096]; print(len(data))")
        assert (result.status, result.text) == ("died", "")
        assert result.error is not None
        assert result.error.name == "OutOfMemory"
        assert "all sessions together" in result.error.message
        assert session.run("print(6 * 7)").text == "42\n"


def test_a_process_killed_for_the_limit_of_all_sessions_is_distinguished(groups: Cgroups) -> None:
    found, _ = find_cgroups(90 * MIB)
    assert found is not None
    group = found.make("one", Policy(memory_bytes=200 * MIB))
    hog = start_in(group, sys.executable, "-c", "b = bytearray(200 * 2**20); b[::4096] = b[::4096]")
    assert hog.wait() == -9
    assert group.find_exhausted() == "sandbox"
    found.close()


_FORKS = "import os\nwhile True:\n    if os.fork():\n        os._exit(0)"


def test_a_process_that_forks_all_the_time_is_ended(groups: Cgroups) -> None:
    group = groups.make("one", Policy())
    start_in(group, sys.executable, "-c", _FORKS).wait()
    group.kill()
    assert [(folder / "cgroup.procs").read_text() for folder in group.folders] == [""] * len(group.folders)
    group.remove()


def test_version_2_is_ended_at_once(tmp_path: Path) -> None:
    (tmp_path / "cgroup.kill").touch()
    (tmp_path / "cgroup.procs").touch()
    Group({"memory": tmp_path, "pids": tmp_path}).kill()
    assert (tmp_path / "cgroup.kill").read_text() == "1"


def test_processes_of_another_pid_namespace_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("0\n0\n")
    Group({"memory": tmp_path}).kill()  # a signal to 0 would go to the process group of this test


@pytest.fixture
def place(groups: Cgroups) -> Iterator[Path]:
    """A real group in which others can be made."""
    folder = groups.folders[0].parent / f"test-{os.urandom(4).hex()}"
    folder.mkdir()
    yield folder
    for child in folder.glob("*/"):
        child.rmdir()
    folder.rmdir()


def test_the_groups_of_a_host_that_lives_are_not_swept(place: Path) -> None:
    living = Cgroups({"memory": place}, unified=False)
    sweep([place])
    assert living.folders[0].is_dir()
    living.close()


def test_the_groups_of_a_host_that_is_gone_are_swept(place: Path) -> None:
    (place / "pyvision-sandbox-aa" / "k1").mkdir(parents=True)
    (place / "user.slice").mkdir()
    sweep([place])
    assert [path.name for path in place.glob("*/")] == ["user.slice"]


_SWEEP = "import sys; from pathlib import Path; from sandbox.isolation.cgroup import sweep; sweep([Path(sys.argv[1])])"


def test_a_host_in_another_pid_namespace_does_not_sweep_a_living_one(place: Path) -> None:
    living = Cgroups({"memory": place}, unified=False)
    group = living.make("k1", Policy())
    sleeper = start_in(group, "sleep", "60")
    other = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", _SWEEP, str(place)]
    done = subprocess.run(other, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    if "unshare:" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.returncode, done.stderr) == (0, "")
    assert sleeper.poll() is None
    living.close()
    assert sleeper.wait() == -9


class UnifiedTree:
    """A folder that looks like version 2 to whoever writes into it."""

    def __init__(self, folder: Path) -> None:
        self.place = folder
        self.groups = Cgroups({"memory": folder, "pids": folder}, unified=True)


def test_version_2_limits_all_sessions_together(tmp_path: Path) -> None:
    class Tree(Cgroups):
        """Has the files that Linux makes in a new group."""

        def _limit_memory(self, max_memory_bytes: int | None) -> None:
            (self.folders[0] / "memory.max").touch()
            super()._limit_memory(max_memory_bytes)

    groups = Tree({"memory": tmp_path, "pids": tmp_path}, unified=True, max_memory_bytes=2**30)
    assert (groups.folders[0] / "memory.max").read_text() == str(2**30)


@pytest.mark.parametrize(
    ("own", "parent", "expected"),
    [
        ("oom 1\noom_kill 1\n", "oom 0\n", "session"),
        ("oom 0\noom_kill 1\n", "oom 1\n", "sandbox"),
        ("oom 0\noom_kill 1\n", "oom 0\n", "machine"),
        ("oom 1\noom_kill 0\n", "oom 0\n", None),
    ],
)
def test_cgroup_version_2_reports_whose_memory_ran_out(
    tmp_path: Path, own: str, parent: str, expected: str | None
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "memory.events").write_text(own)
    (tmp_path / "memory.events.local").write_text(parent)
    assert Group({"memory": tmp_path / "one"}).find_exhausted() == expected


def test_version_2_turns_its_controllers_on_below_itself(tmp_path: Path) -> None:
    tree = UnifiedTree(tmp_path)
    (folder,) = tree.groups.folders
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids"
    (folder / "cgroup.subtree_control").unlink()
    tree.groups.close()
    assert not folder.exists()


@pytest.fixture
def unified() -> Iterator[Path]:
    """A new directory in the machine's own tree of version 2, which needs no controller."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    trees = [Path(place) for _, place, kind, *_ in mounts if kind == "cgroup2"]
    if not trees or not os.access(trees[0], os.W_OK):
        pytest.skip("this user can make no group of version 2 on this machine")
    folder = trees[0] / f"pyvision-sandbox-{os.getpid()}-test"
    folder.mkdir()
    yield folder
    assert wait_until(lambda: not (folder / "cgroup.procs").read_text())
    folder.rmdir()


def test_a_process_joins_a_real_group_of_version_2(unified: Path) -> None:
    sleeper = start_in(Group({"memory": unified}), "sleep", "60")
    pid = str(sleeper.pid)
    assert wait_until(lambda: pid in (unified / "cgroup.procs").read_text().split())
    sleeper.kill()
    sleeper.wait()


def test_version_2_is_joined_by_its_list_of_processes(tmp_path: Path) -> None:
    group = Group({"memory": tmp_path, "pids": tmp_path})
    (tmp_path / "cgroup.procs").touch()
    (procs_file,) = group.open_procs_files()
    os.write(procs_file, b"0")
    os.close(procs_file)
    assert (tmp_path / "cgroup.procs").read_text() == "0"


def test_a_place_where_no_group_can_be_made_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Cgroups({"memory": tmp_path / "nowhere"}, unified=False)


def test_a_new_cell_goes_before_a_long_one(tmp_path: Path) -> None:
    (tmp_path / "cpu.weight").touch()
    group, weights = Group({"cpu": tmp_path}), []
    for urgency in ("new", "long", "none"):
        group.prioritize(urgency)
        weights.append(int((tmp_path / "cpu.weight").read_text()))
    assert weights == sorted(weights, reverse=True)
