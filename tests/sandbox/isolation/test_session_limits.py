"""What is chosen to limit a session as a whole, and that a machine which offers nothing is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import Policy
from sandbox.isolation.session_limits import default_max_memory, find_session_limits
from tests.sandbox.ordinary_user import ordinary_user

WITHOUT_PROC = """
from sandbox import IsolationError, Policy
from sandbox.isolation.session_limits import find_session_limits
try:
    limits = find_session_limits(Policy(session_memory={choice!r}))
except IsolationError as error:
    print("refused:", error)
else:
    print(limits.memory)
"""


def without_proc(choice: str) -> str:
    """What a host prints that has an empty /proc."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can cover /proc")
    cover = 'mount -t tmpfs none /proc && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", cover, "sh", sys.executable, "-c"]
    done = subprocess.run(
        [*command, WITHOUT_PROC.format(choice=choice)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr.strip())
    return done.stdout


def test_a_machine_that_can_limit_no_session_is_refused() -> None:
    message = without_proc("required")
    assert message.startswith("refused: the memory of a session cannot be limited: /proc ")
    assert "Policy(session_memory='per_process')" in message


def test_a_policy_that_accepts_limits_per_process_is_not_refused() -> None:
    assert without_proc("per_process").startswith("none: RLIMIT_AS limits each process alone")


def test_the_watchdog_can_be_asked_for() -> None:
    limits = find_session_limits(Policy(session_memory="watchdog"), 2**30)
    assert limits.groups is None
    assert limits.watchdog is not None
    assert limits.memory.startswith("a watchdog")
    assert limits.all_memory.startswith("1,024 MiB")
    limits.close()
    limits.close()


def test_without_isolation_there_is_no_container_to_be_watched() -> None:
    limits = find_session_limits(Policy(isolation="none", session_memory="watchdog"))
    assert not limits.limits_memory
    assert limits.all_memory == "none"


def test_all_sessions_together_leave_a_part_of_the_machine() -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < default_max_memory() <= 0.8 * machine


def test_a_user_without_cgroups_is_shown_how_to_get_them_from_systemd() -> None:
    script = """
import os, pathlib
folder = pathlib.Path.home() / "systemd"
folder.mkdir()
(folder / "private").touch()
os.environ["XDG_RUNTIME_DIR"] = str(folder.parent)
from sandbox.isolation.cgroup import find_cgroups
groups, reason = find_cgroups()
print("cgroups" if groups else reason)
"""
    with ordinary_user() as user:
        printed = user.run(script)
    if printed == "cgroups\n":
        pytest.skip("this user has cgroups")
    assert "`systemd-run --user --scope`" in printed
