"""How all processes of the sandbox's own user are ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import os, signal, subprocess
from sandbox.guest.supervisor import end_user
os.setgroups([]); os.setresgid(1_899_999_998, 1_899_999_998, 1_899_999_998)
os.setresuid(1_899_999_998, 1_899_999_998, 1_899_999_998)
forking = "while true; do (:) & done"
options = {"start_new_session": True, "preexec_fn": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)}
children = [subprocess.Popen(command, **options) for command in (["sleep", "60"], ["sh", "-c", forking])]
end_user()
print([child.wait() for child in children])
"""
_AS_ROOT = """
import subprocess
from sandbox.guest.supervisor import end_user
child = subprocess.Popen(["sleep", "60"])
end_user()
print(child.poll())
child.kill()
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user that nobody else is")
def test_no_process_of_the_user_outlives_its_end() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "[-9, -9]\n", done.stderr


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="it needs root and unshare")
def test_root_never_ends_its_own_processes() -> None:
    apart = ["unshare", "--pid", "--fork", "--kill-child"]  # where no other process could be hit
    done = subprocess.run(
        [*apart, sys.executable, "-c", _AS_ROOT],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "None\n", done.stderr
