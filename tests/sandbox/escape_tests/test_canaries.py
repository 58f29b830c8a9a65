"""Each canary tells when it is touched, and only then."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.escape_tests.canaries import Canaries

MARKER = "5f0c2b9e77"


@pytest.fixture
def canaries() -> Iterator[Canaries]:
    with Canaries() as planted:
        yield planted


def test_untouched_canaries_report_nothing(canaries: Canaries) -> None:
    assert canaries.find_harm(MARKER) is None


def test_a_program_gets_no_secret(canaries: Canaries) -> None:
    target = repr(canaries.target)
    secret, key = (os.environ[canaries.target[name]] for name in ("secret_name", "key_name"))
    assert secret.startswith("canary-")
    assert canaries.find_secret(target) is None
    assert key not in target


def test_the_key_in_the_environment_is_the_one_in_the_file(canaries: Canaries) -> None:
    name, file = canaries.target["key_name"], Path(canaries.target["key_file"])
    assert file.read_text() == f"{name}={os.environ[name]}\n"


def test_a_secret_is_recognised_within_other_text(canaries: Canaries) -> None:
    key = os.environ[canaries.target["key_name"]]
    for secret in (key, canaries.neighbour_secret, os.environ[canaries.target["secret_name"]]):
        assert canaries.find_secret(f"<{secret}>") == "it printed a secret"
    assert canaries.find_secret(key[:-1]) is None


def test_a_removed_key_is_noticed(canaries: Canaries) -> None:
    path = Path(canaries.target["key_file"])
    path.unlink()
    assert canaries.find_harm(MARKER) == f"{path} was removed"


@pytest.mark.parametrize("name", ["secret_file", "home_file"])
def test_a_changed_file_is_noticed(canaries: Canaries, name: str) -> None:
    path = Path(canaries.target[name])
    path.write_text("changed")
    assert canaries.find_harm(MARKER) == f"{path} was changed"


def test_a_file_that_was_made_outside_is_noticed(canaries: Canaries) -> None:
    made = Path(canaries.target["outside"], "made")
    made.touch()
    assert canaries.find_harm(MARKER) == f"{made} was made"


@pytest.mark.parametrize("kind", ["tcp", "tcp6", "abstract", "unix", "udp"])
def test_a_server_that_was_sent_the_marker_is_noticed(canaries: Canaries, kind: str) -> None:
    send(kind, canaries.target[kind], MARKER.encode())
    assert canaries.find_harm(MARKER) == f"the {kind} server of the host was reached"


def test_a_server_that_was_sent_something_else_reports_nothing(canaries: Canaries) -> None:
    send("tcp", canaries.target["tcp"], b"hello")
    send("udp", canaries.target["udp"], b"hello")
    assert canaries.find_harm(MARKER) is None


def send(kind: str, address: Any, data: bytes) -> None:
    if address is None:
        pytest.skip("this machine has no IPv6")
    families = {"tcp6": socket.AF_INET6, "abstract": socket.AF_UNIX, "unix": socket.AF_UNIX}
    how = socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM
    with socket.socket(families.get(kind, socket.AF_INET), how) as client:
        client.connect(f"\0{address}" if kind == "abstract" else address)
        client.sendall(data)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_signal_to_the_victim_is_noticed(canaries: Canaries, number: signal.Signals) -> None:
    pid = canaries.target["victim_pid"]
    os.kill(pid, number)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
    assert "was ended, stopped or traced" in str(canaries.find_harm(MARKER))


def test_another_priority_of_the_victim_is_noticed(canaries: Canaries) -> None:
    os.setpriority(os.PRIO_PROCESS, canaries.target["victim_pid"], 15)
    assert "settings of process" in str(canaries.find_harm(MARKER))


def test_a_changed_posix_segment_is_noticed(canaries: Canaries) -> None:
    Path("/dev/shm" + canaries.target["shm_name"]).write_text("changed")
    assert canaries.find_harm(MARKER) == "a POSIX segment of the host was changed"


def test_a_changed_system_v_segment_is_noticed(canaries: Canaries) -> None:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(libc.shmget(canaries.target["shm_key"], 0, 0), None, 0)
    ctypes.memmove(address, b"changed", 7)
    libc.shmdt(ctypes.c_void_p(address))
    assert canaries.find_harm(MARKER) == "a System V segment of the host was changed"


def test_canaries_are_planted_again_once_one_was_touched(canaries: Canaries) -> None:
    before = canaries.target
    os.kill(before["victim_pid"], signal.SIGKILL)
    os.waitid(os.P_PID, before["victim_pid"], os.WEXITED | os.WNOWAIT)
    assert canaries.find_harm(MARKER) is not None
    assert canaries.target["victim_pid"] != before["victim_pid"]
    assert canaries.find_harm(MARKER) is None


def test_no_canary_is_left_after_the_end() -> None:
    with Canaries() as canaries:
        target = canaries.target
    assert not Path(f"/proc/{target['victim_pid']}").exists()
    assert not {target["secret_name"], target["key_name"]} & set(os.environ)
    for path in (
        target["key_file"],
        target["secret_file"],
        target["home_file"],
        target["outside"],
        "/dev/shm" + target["shm_name"],
    ):
        assert not Path(path).exists()
    assert ctypes.CDLL(None).shmget(target["shm_key"], 0, 0) == -1
