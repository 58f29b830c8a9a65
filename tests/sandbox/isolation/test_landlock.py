"""The landlock tier: no namespaces, and yet nothing of the host within reach, and nothing left behind."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox, Session
from sandbox.guest.landlock import landlock_abi
from sandbox.isolation import process_tree
from sandbox.isolation.process_tree import WatchedTree
from sandbox.policy import MIB
from tests.sandbox.conftest import png
from tests.sandbox.processes import alive, descendants, wait_until

pytestmark = pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")

ROOT = Path(__file__).parents[3]
POLICY = Policy(
    isolation="landlock",
    cell_timeout_s=20,
    memory_bytes=1024 * MIB,
    processes=40,
    disk_bytes=32 * MIB,
    disk_files=500,
    session_memory="watchdog",  # with a cgroup Linux limits the processes
)
LEAVE_PROCESSES = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pause()
    os._exit(0)
os.waitpid(child, 0)  # from here on the one that pauses is an orphan, and the only one left
"""


@pytest.fixture(scope="module")
def limited() -> Iterator[Sandbox]:
    with Sandbox(POLICY) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def session(limited: Sandbox) -> Iterator[Session]:
    with limited.open({"image_clue_0": png()}) as opened:
        yield opened


def raised(session: Session, code: str) -> str | None:
    error = session.run(code).error
    return error.name if error else None


def test_a_cell_shows_a_figure(session: Session) -> None:
    result = session.run("plt.imshow(image_clue_0); plt.show(); print(image_clue_0.size)")
    assert result.text == "(40, 30)\n"
    assert len(result.figures) == 1


def test_the_working_folder_can_be_written(session: Session) -> None:
    code = "import tempfile; open('kept', 'w').write('x'); tempfile.mkdtemp(); print(open('kept').read())"
    assert session.run(code).text == "x\n"


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp", "/usr"])
def test_no_other_folder_can_be_written(session: Session, place: str) -> None:
    assert raised(session, f"open('{place}/escape', 'w')") == "PermissionError"


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/1/environ", str(Path(__file__)), "/proc/1/cmdline"])
def test_no_file_of_the_host_can_be_read(session: Session, path: str) -> None:
    assert raised(session, f"open({path!r}).read()") == "PermissionError"


def test_the_images_of_another_session_cannot_be_read(limited: Sandbox, session: Session) -> None:
    with limited.open({"image_clue_0": png(colour="blue")}) as other:
        path = other.run("import os; print(os.path.realpath('image_clue_0.png'))").text.strip()
        assert raised(session, f"open({path!r}, 'rb').read()") == "PermissionError"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_socket_can_be_made(session: Session, family: str) -> None:
    assert raised(session, f"import socket; socket.socket(socket.{family})") == "PermissionError"


def test_a_pair_of_sockets_that_could_send_elsewhere_cannot_be_made(session: Session) -> None:
    code = "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"
    assert raised(session, code) == "PermissionError"
    assert raised(session, "import socket; socket.socketpair()") is None


def test_no_descriptor_can_be_sent(session: Session) -> None:
    code = "import socket; a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0])"
    assert raised(session, code) == "PermissionError"


def test_a_server_of_the_host_cannot_be_reached(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=3)"
        assert raised(session, code) == "PermissionError"


def test_the_host_cannot_be_signalled(session: Session) -> None:
    assert raised(session, f"import os; os.kill({os.getpid()}, 0)") == "PermissionError"


def test_a_child_of_the_cell_can_be_ended(session: Session) -> None:
    code = "import subprocess; child = subprocess.Popen(['sleep', '60']); child.kill(); print(child.wait())"
    assert session.run(code).text == "-9\n"


def test_the_rights_of_a_file_of_the_host_stay(session: Session) -> None:
    with tempfile.NamedTemporaryFile() as file:
        before = Path(file.name).stat().st_mode
        session.run(f"import os; os.chmod({file.name!r}, 0o777)")
        assert Path(file.name).stat().st_mode == before


def test_a_detached_process_ends_with_its_session(limited: Sandbox) -> None:
    with limited.open() as opened:
        before = descendants(os.getpid())
        opened.run(LEAVE_PROCESSES)
        left = {pid: start for pid, start in descendants(os.getpid()).items() if pid not in before}
        assert alive(left)
    assert wait_until(lambda: not alive(left))


def test_the_sessions_of_a_zygote_that_is_killed_end_with_it() -> None:
    with Sandbox(Policy(isolation="landlock")) as sandbox, sandbox.open() as opened:
        assert sandbox._engine is not None
        opened.run(LEAVE_PROCESSES)
        started = descendants(os.getpid())
        zygote = sandbox._engine._zygote._process
        below = {pid: start for pid, start in descendants(zygote.pid).items() if pid in started}
        zygote.kill()
        assert below
        assert wait_until(lambda: not alive(below))


def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom sandbox import Policy, Sandbox\n"
        "session = Sandbox(Policy(isolation='landlock')).open()\n"
        f"session.run({LEAVE_PROCESSES!r})\nprint('ready', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        started = descendants(host.pid)
        host.kill()
    assert started
    assert wait_until(lambda: not alive(started))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "import time\nfor n in range(8):\n    open(str(n), 'wb').write(bytes(8 * 2**20))\ntime.sleep(9)",
            "OutOfDisk",
        ),
        (
            "import tempfile, time\nkept = [tempfile.TemporaryFile(buffering=0) for _ in range(8)]\n"
            "for file in kept:\n    file.write(bytes(8 * 2**20))\ntime.sleep(9)",
            "OutOfDisk",
        ),
        (
            "import ctypes, os, platform, threading, time\n"
            "def hold():\n"
            "    kept = [open(f'part{n}', 'wb', buffering=0) for n in range(10)]\n"
            "    for n, file in enumerate(kept):\n        os.unlink(f'part{n}'); file.write(bytes(4 * 2**20))\n"
            "    time.sleep(9)\n"
            "if os.fork() == 0:\n"
            "    threading.Thread(target=hold).start()\n"
            "    ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[platform.machine()], 0)\n"
            "time.sleep(9)",
            "OutOfDisk",
        ),
        (
            "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
            "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n"
            "for n in range(10):\n"
            "    file = os.open('part', os.O_RDWR | os.O_CREAT)\n    os.unlink('part')\n"
            "    os.write(file, bytes(4 * 2**20))\n    libc.mmap(None, 4096, 1, 1, file, 0)\n    os.close(file)\n"
            "time.sleep(9)",
            "OutOfDisk",
        ),
        (
            "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
            "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n"
            "file = os.open('part\\r', os.O_RDWR | os.O_CREAT)\nos.unlink('part\\r')\n"
            "os.write(file, bytes(40 * 2**20))\nlibc.mmap(None, 4096, 1, 1, file, 0)\nos.close(file)\n"
            "time.sleep(9)",
            "OutOfDisk",
        ),
        (
            "import os, time\nkept = []\nfor _ in range(25):\n    os.mkdir('d' * 200); os.chdir('d' * 200)\n"
            "for n in range(10):\n    kept.append(open('part', 'wb', buffering=0)); os.unlink('part')\n"
            "for _ in range(25):\n    os.chdir('..'); os.rmdir('d' * 200)\n"
            "for file in kept:\n    file.write(bytes(4 * 2**20))\ntime.sleep(9)",
            "OutOfDisk",
        ),
        ("import os, time\nfor n in range(600):\n    open(str(n), 'w').close()\ntime.sleep(9)", "OutOfDisk"),
        (
            "import threading, time\nfor n in range(60):\n"
            "    threading.Thread(target=time.sleep, args=(9,)).start()\ntime.sleep(9)",
            "TooManyProcesses",
        ),
        (
            "import os, signal, time\nfor _ in range(8):\n    if os.fork() == 0:\n"
            "        for _ in range(450):\n            os.open('/dev/null', os.O_RDONLY)\n"
            "        signal.pause()\ntime.sleep(9)",
            "TooManyHandles",
        ),
        (
            "import ctypes, mmap, os, signal, time\nlibc = ctypes.CDLL(None)\n"
            "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n"
            "block = mmap.mmap(-1, 4096 * 60_000, mmap.MAP_PRIVATE)\n"
            "start = ctypes.addressof(ctypes.c_char.from_buffer(block))\n"
            "for page in range(0, 60_000, 2):\n    libc.mprotect(start + 4096 * page, 4096, mmap.PROT_READ)\n"
            "for _ in range(2):\n    os.fork() or signal.pause()\ntime.sleep(9)",
            "TooManyHandles",
        ),
    ],
    ids=[
        "files",
        "removed files",
        "removed files of a process whose first thread has ended",
        "removed files of which a page is mapped",
        "a removed and mapped file with the end of a line in its name",
        "removed files in a folder with a long path",
        "many files",
        "threads",
        "descriptors",
        "mappings",
    ],
)
def test_a_session_that_takes_too_much_is_ended(limited: Sandbox, code: str, error: str) -> None:
    with limited.open() as opened:
        result = opened.run(code)
        assert (result.status, result.error and result.error.name) == ("died", error)
        assert opened.run("print(6 * 7)").text == "42\n"


_THREAD_WITH_OWN_DESCRIPTORS = """
import ctypes, os, sys, threading
os.chdir(sys.argv[1])
def hold():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
    kept = open("part", "wb", buffering=0)
    os.unlink("part")
    kept.write(bytes(4 * 2**20))
    print("ready", flush=True)
    threading.Event().wait()
threading.Thread(target=hold).start()
"""


def test_a_removed_file_of_a_thread_with_its_own_descriptors_counts(tmp_path: Path) -> None:
    tree = WatchedTree(-1, lambda: None, supervisor=os.getpid(), work=str(tmp_path))
    tree.tasks = tree.disk_files = tree.descriptors = tree.mappings = 100_000
    with subprocess.Popen(
        [sys.executable, "-c", _THREAD_WITH_OWN_DESCRIPTORS, str(tmp_path)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        tree.disk_bytes = 5 * MIB
        within = tree.find_excess()
        tree.disk_bytes, tree.files_due = 3 * MIB, 0.0
        beyond = tree.find_excess()
        holder.kill()
    assert (within, beyond) == (None, "disk")


def test_more_children_than_a_page_can_list_are_found() -> None:
    fork = "import os, signal\nfor _ in range(700):\n    os.fork() or signal.pause()\n"
    script = f"{fork}print(1, flush=True)\nsignal.pause()"
    started = [sys.executable, "-c", script]
    with subprocess.Popen(started, stdout=subprocess.PIPE, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"1\n"
        children = process_tree.descendants(parent.pid)
        os.killpg(parent.pid, signal.SIGKILL)
    assert len(children) == 700


@pytest.mark.parametrize("seen", [1, 2], ids=["the folder", "the one above it"])
def test_files_behind_a_link_that_replaces_a_folder_are_not_counted(tmp_path: Path, seen: int) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    for path in (work / "folder" / "below", outside / "below"):
        path.mkdir(parents=True)
    (outside / "below" / "file").touch()
    walk = process_tree._statuses(str(work))
    for _ in range(seen):
        next(walk)  # `folder`, then `folder/below`
    (work / "folder").rename(tmp_path / "moved")
    (work / "folder").symlink_to(outside)
    assert [stat.S_ISREG(status.st_mode) for status in walk] == []


_KEEP_REMOVED_FILES = """
from sandbox import Policy, Sandbox
policy = Policy(isolation="landlock", disk_bytes=16 * 2**20, cell_timeout_s=30, session_memory="watchdog")
cell = '''
import os, time
kept = [open(f"part{number}", "wb") for number in range(12)]
for number, file in enumerate(kept):
    file.write(b"x" * 4 * 2**20)
    file.flush()
    os.unlink(f"part{number}")
time.sleep(20)
'''
with Sandbox(policy) as sandbox, sandbox.open() as session:
    print(session.run(cell).error.name)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root runs cells as another user")
def test_root_without_the_right_to_trace_measures_removed_files() -> None:
    """So is root in a container by default."""
    done = subprocess.run(
        ["setpriv", "--bounding-set", "-sys_ptrace", sys.executable, "-c", _KEEP_REMOVED_FILES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "OutOfDisk\n", done.stderr


def test_folders_that_cannot_be_entered_are_removed_with_the_session(limited: Sandbox) -> None:
    with limited.open() as opened:
        folder = Path(opened.run("import os; print(os.getcwd())").text.strip())
        opened.run("os.mkdir('a', 0)\nfor _ in range(200):\n    os.mkdir('b'); os.chdir('b')")
    assert not folder.parent.exists()


def test_the_report_names_the_tier(limited: Sandbox) -> None:
    layers = {layer.name: layer for layer in limited.layers()}
    assert layers["tier"].detail.startswith("landlock: ")
    assert "not covered" in layers["tier"].detail
    assert not layers["namespaces"].is_present


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that every user may write, in a folder that cells may read."""
    path = tmp_path_factory.mktemp("modules") / "module.py"
    path.write_text("kept = 1")
    path.chmod(0o666)
    return path


@pytest.fixture(scope="module", params=[1, 2, 4])
def older(request: pytest.FixtureRequest, writable: Path) -> Iterator[Session]:
    """A session that uses no more of Landlock than an older Linux offers."""
    policy = Policy(isolation="landlock", cell_timeout_s=20, modules=(str(writable.parent),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: request.param)
        with Sandbox(policy) as sandbox, sandbox.open() as opened:
            yield opened


@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(HOST, 0)",
        "os.kill(-GROUP, 0)",
        "signal.pidfd_send_signal(os.pidfd_open(HOST), 0)",
        "open('/etc/passwd').read()",
        "open('/tmp/escape', 'w')",
        "open(MODULE, 'w')",
        "os.open(MODULE, os.O_RDONLY | os.O_TRUNC)",
        "os.truncate(MODULE, 0)",
        "socket.socket()",
    ],
)
def test_an_older_landlock_leaves_no_more_open(older: Session, writable: Path, attempt: str) -> None:
    names = f"HOST, GROUP, MODULE = {os.getpid()}, {os.getpgrp()}, {str(writable)!r}"
    assert raised(older, f"import os, signal, socket; {names}; {attempt}") == "PermissionError"
    assert writable.read_text() == "kept = 1"


def test_under_an_older_landlock_a_cell_can_signal_itself(older: Session) -> None:
    handle = "signal.signal(signal.SIGUSR2, lambda *_: print('got it'))"
    assert older.run(f"import os, signal; {handle}; os.kill(os.getpid(), signal.SIGUSR2)").text == "got it\n"
