"""The landlock tier measures what a session takes, and ends one that takes too much."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox
from sandbox.guest.landlock import landlock_abi
from sandbox.isolation import process_tree
from sandbox.isolation.process_tree import WatchedTree
from sandbox.policy import MIB

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


@pytest.fixture(scope="module")
def limited() -> Iterator[Sandbox]:
    with Sandbox(POLICY) as sandbox:
        yield sandbox


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
