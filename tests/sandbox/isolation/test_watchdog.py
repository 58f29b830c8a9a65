"""The watchdog: what it counts, whom it ends, and what is refused because it could not count it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import Queue
from threading import Event

import pytest

from sandbox import CellResult, Policy, Sandbox
from sandbox.isolation import watchdog
from sandbox.isolation.confinement import has_capability
from sandbox.isolation.process_tree import WatchedTree
from sandbox.isolation.watchdog import Watchdog, WatchedSession
from sandbox.policy import MIB, Exhausted
from tests.sandbox.ordinary_user import OrdinaryUser, ordinary_user
from tests.sandbox.processes import wait_until

_CAP_SYS_NICE = 23  # linux/capability.h
POLICY = Policy(cell_timeout_s=30, memory_bytes=256 * MIB, session_memory="watchdog")
TAKE = """
def take(mebibytes):
    data = bytearray(mebibytes * 2**20)
    data[::4096] = b"x" * len(data[::4096])
    return data
"""
CHILDREN = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        prepare()
        data = take(110)
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""
NOT_DUMPABLE = """
import ctypes
def prepare():
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(POLICY) as opened:
        yield opened


@pytest.fixture(scope="module")
def user() -> Iterator[OrdinaryUser]:
    with ordinary_user() as found:
        yield found


def ran(sandbox: Sandbox, code: str) -> CellResult:
    with sandbox.open({}) as session:
        return session.run(code)


def error_of(sandbox: Sandbox, code: str) -> str | None:
    error = ran(sandbox, code).error
    return error.name if error else None


def test_children_count_together(sandbox: Sandbox) -> None:
    result = ran(sandbox, TAKE + "def prepare(): pass" + CHILDREN)
    assert result.status == "died"
    assert result.error is not None
    assert result.error.name == "OutOfMemory"
    assert "268,435,456 bytes" in result.error.message


def test_a_child_that_is_not_dumpable_counts(sandbox: Sandbox) -> None:
    assert error_of(sandbox, TAKE + NOT_DUMPABLE + CHILDREN) == "OutOfMemory"


def test_a_process_without_its_first_thread_counts(sandbox: Sandbox) -> None:
    code = """
import ctypes, os, platform, threading, time
number = {"x86_64": 60, "aarch64": 93}[platform.machine()]
for _ in range(4):
    if os.fork() == 0:
        threading.Thread(target=lambda: (take(110), time.sleep(20))).start()
        ctypes.CDLL(None).syscall(number, 0)
time.sleep(20)
"""
    code = code.replace("lambda: (take(110), time.sleep(20))", "hold")
    hold = "def hold():\n    data = take(110)\n    time.sleep(20)\n"
    assert error_of(sandbox, TAKE + hold + code) == "OutOfMemory"


_HOLD_WITHOUT_FIRST_THREAD = """
import ctypes, platform, sys, threading
def hold():
    data = bytearray(60 * 2**20)
    data[::4096] = b"x" * len(data[::4096])
    print("ready", flush=True)
    threading.Event().wait()
threading.Thread(target=hold).start()
sys.stdin.readline()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


def _end_first_thread(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()
    assert wait_until(lambda: Path(f"/proc/{process.pid}/statm").read_text().startswith("0 "))


def test_first_threads_that_end_during_a_measurement_hide_nothing() -> None:
    command = [sys.executable, "-c", _HOLD_WITHOUT_FIRST_THREAD]
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            )
            for _ in range(2)
        )
        for process in (first, second):
            stack.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        _end_first_thread(second)

        def list_members(known: set[str]) -> list[str]:
            if not known:
                known.add("first")
                return [f"/proc/{first.pid}"]
            if "second" in known:
                return []
            known.add("second")
            _end_first_thread(first)
            return [f"/proc/{second.pid}"]

        assert watchdog._exact_bytes(list_members) > 120 * MIB


@pytest.mark.skipif(not has_capability(_CAP_SYS_NICE), reason="only root may raise a priority")
def test_the_thread_that_measures_precedes_the_sessions(sandbox: Sandbox) -> None:
    with sandbox.open():
        (thread,) = (each for each in threading.enumerate() if each.name == "sandbox-watchdog")
        assert thread.native_id is not None
        number = thread.native_id
        assert wait_until(lambda: os.getpriority(os.PRIO_PROCESS, number) < 0)


def test_deleted_files_in_memory_count_beside_the_heap(sandbox: Sandbox) -> None:
    code = """
import tempfile, time
file = tempfile.TemporaryFile(buffering=0)
for _ in range(20):
    file.write(bytes(10 * 2**20))
data = take(180)
time.sleep(20)
"""
    assert error_of(sandbox, TAKE + code) == "OutOfMemory"


def test_memory_that_children_share_counts_once(sandbox: Sandbox) -> None:
    code = """
import multiprocessing, time
data = take(120)
def square(number):
    time.sleep(0.5)
    return number * number
with multiprocessing.get_context("fork").Pool(4) as pool:
    print(pool.map(square, range(4)))
"""
    assert ran(sandbox, TAKE + code).text == "[0, 1, 4, 9]\n"


def test_a_child_before_its_program_counts_with_its_parent(sandbox: Sandbox) -> None:
    code = """
import subprocess
data = take(200)
for _ in range(100):
    subprocess.run(["/bin/true"], check=True)
print("fine")
"""
    assert ran(sandbox, TAKE + code).text == "fine\n"


def test_a_session_that_was_ended_between_cells_says_why(sandbox: Sandbox) -> None:
    later = """
import os, time
if os.fork() == 0:
    time.sleep(0.2)
    held = [os.fork(), os.fork()]
    data = take(150)
    time.sleep(20)
    os._exit(0)
"""
    with sandbox.open({}) as session:
        session.run(TAKE + later)
        handle = session._kernel
        assert handle is not None
        assert wait_until(lambda: not handle.is_alive())
        result = session.run("print(1)")
        assert result.error is not None
        assert result.error.name == "OutOfMemory"
        assert session.run("print(2)").text == "2\n"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.memfd_create('x')",
        "import mmap; mmap.mmap(-1, 4096)",
        "open('/dev/zero', 'r+b')",
        "import socket; socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)",
        "import socket; socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)",
        "import socket; socket.socket().setsockopt(socket.SOL_SOCKET, 60, 1)",
    ],
)
def test_memory_of_no_process_is_refused(sandbox: Sandbox, code: str) -> None:
    assert error_of(sandbox, code) in ("OSError", "PermissionError", "FileNotFoundError")


@pytest.mark.parametrize("call", ["shmget", "msgget", "semget"])
def test_system_v_segments_are_refused(sandbox: Sandbox, call: str) -> None:
    code = f"import ctypes; print(ctypes.CDLL(None).{call}(0, 4096, 0o1600))"
    assert ran(sandbox, code).text == "-1\n"


def test_private_mappings_are_not_refused(sandbox: Sandbox) -> None:
    code = "import mmap; mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); print('mapped')"
    assert ran(sandbox, code).text == "mapped\n"


def test_the_largest_session_ends_when_all_together_have_too_much() -> None:
    with Sandbox(POLICY, max_memory_bytes=360 * MIB) as sandbox:
        small, large = sandbox.open({}), sandbox.open({})
        small.run(TAKE + "data = take(100)")
        result = large.run(TAKE + "data = take(230)\nimport time; time.sleep(10)")
        assert result.error is not None
        assert result.error.name == "OutOfMemory"
        assert "all sessions together" in result.error.message
        assert small.run("print(len(data))").text == f"{100 * MIB}\n"


AS_USER = """
import json
from sandbox import Policy, Sandbox
POLICY = Policy(cell_timeout_s=30, memory_bytes=256 * 2**20)
with Sandbox(POLICY) as sandbox, sandbox.open({}) as session:
    layers = {layer.name: layer.detail for layer in sandbox.layers()}
    error = session.run(%r).error
    print(json.dumps([layers["session memory"], error and error.name, session.run("print(6 * 7)").text]))
"""


@pytest.mark.parametrize("prepare", ["def prepare(): pass", NOT_DUMPABLE], ids=["plain", "not dumpable"])
def test_an_ordinary_users_session_is_limited_as_a_whole(user: OrdinaryUser, prepare: str) -> None:
    layer, error, after = json.loads(user.run(AS_USER % (TAKE + prepare + CHILDREN)))
    assert layer.startswith(("256 MiB: a watchdog", "256 MiB: cgroup"))
    assert (error, after) == ("OutOfMemory", "42\n")


def test_no_session_continues_after_the_watchdog_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: Queue[threading.ExceptHookArgs] = Queue()
    monkeypatch.setattr(threading, "excepthook", failed.put)

    class Broken(WatchedSession):
        def find_excess(self) -> Exhausted | None:
            raise RuntimeError("the watchdog has a bug")

    def watch(_: int, kill: Callable[[], None], __: str) -> WatchedSession:
        return Broken(os.open("/", os.O_RDONLY), kill)

    watchdog = Watchdog(2**30, 2**31, watch)
    for killed in (Event(), Event()):  # the second has a thread of its own
        watched = watchdog.watch(-1, killed.set)
        assert failed.get(timeout=10).exc_type is RuntimeError
        assert killed.is_set()
        watchdog.forget(watched)
    watchdog.close()


def test_the_processes_below_a_supervisor_are_measured() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        tree = WatchedTree(-1, child.kill, supervisor=os.getpid())
        assert tree.measure_exactly() > 0
        child.kill()
