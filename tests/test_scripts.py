"""`scripts/setup` on a machine that is made up: what is there is not installed again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[1] / "scripts" / "setup"
_MANY_LINES = "for line in $(seq 50000); do echo $line; done"  # of other libraries: more than a pipe holds
_PYTHONS = ("python3", *(f"python3.{minor}" for minor in (11, 12, 13, 14)))


def set_up(folder: Path, libraries: str) -> str:
    """What it says where there is no Python at all, at which it ends after it has looked for the rest."""
    (folder / "scripts").mkdir()
    shutil.copy(SETUP, folder / "scripts")
    programs = folder / "bin"
    programs.mkdir()
    says_no = dict.fromkeys((*_PYTHONS, "uv"), "exit 1")
    for name, body in {"bwrap": ":", "apt-get": ":", "sudo": ":", "ldconfig": libraries, **says_no}.items():
        (programs / name).write_text(f"#!/bin/bash\n{body}\n")
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(
        ["bash", str(folder / "scripts" / "setup"), "run"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("libraries", "installs"),
    [
        (f"echo 'libseccomp.so.2 (libc6,x86-64)'; {_MANY_LINES}", False),
        (f"{_MANY_LINES}; echo 'libseccomp.so.2 (libc6,x86-64)'", False),
        (_MANY_LINES, True),
    ],
)
def test_a_library_is_installed_only_where_it_is_missing(
    tmp_path: Path, libraries: str, *, installs: bool
) -> None:
    assert ("installing libseccomp2" in set_up(tmp_path, libraries)) == installs
