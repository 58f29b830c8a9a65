"""What a Landlock domain keeps a process from, by the ABI of this Linux and by that of older ones; resource limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.guest.landlock import landlock_abi

_ABI_SCOPE, _NEVER = 6, 99
_SCRIPT = """
import os, sys
from sandbox.guest import confinement, landlock
outside, folder, landlock._ABI_SCOPE = sys.argv[1], sys.argv[2], int(sys.argv[3])
confinement.call("prctl", confinement.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
landlock.enter_process_domain()
os.rename(f"{folder}/a/file", f"{folder}/b/file")
try:
    open(f"/proc/{outside}/mem", "r+b")
except PermissionError:
    print("refused")
"""


@pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock that can be used")
@pytest.mark.parametrize("scope_since", [_ABI_SCOPE, _NEVER])
def test_a_process_outside_of_the_domain_cannot_be_rewritten(tmp_path: Path, scope_since: int) -> None:
    """Files can be moved between folders all the same, which a domain that handles files forbids by default."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "file").touch()
    with subprocess.Popen(["sleep", "60"]) as outside:
        try:
            command = [sys.executable, "-c", _SCRIPT, str(outside.pid), str(tmp_path), str(scope_since)]
            done = subprocess.run(
                command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
            )
        finally:
            outside.kill()
    assert (done.stdout, done.stderr) == ("refused\n", "")


_LIMITS = """
import resource
from sandbox.guest.confinement import set_limits
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
set_limits({"RLIMIT_NOFILE": 512, "RLIMIT_CORE": 0})
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_a_lower_limit_of_the_machine_stays() -> None:
    """Without the right to raise it, a session could not start."""
    command = [sys.executable, "-c", _LIMITS]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("(300, 300) (0, 0)\n", "")
