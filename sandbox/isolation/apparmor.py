"""An AppArmor profile that lets bubblewrap, and nothing else, create user namespaces on Ubuntu.

Since 23.10 Ubuntu forbids user namespaces to programs without a profile that allows them. The profile is attached to
the path of bubblewrap and confines nothing: what bubblewrap starts keeps it, and may make the namespaces of sessions.
Not covered: it was never loaded on Ubuntu itself by the tests of this project.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

_FOLDER = Path("/etc/apparmor.d")
_NAME = "pyvision-bwrap"
_PROFILE = """\
# Lets {bwrap} make user namespaces, for the sandbox of PyVision. Remove it: apparmor_parser -R {file} && rm {file}
abi <abi/4.0>,
include <tunables/global>

profile {name} {bwrap} flags=(unconfined) {{
  userns,
}}
"""


def build_profile(bwrap: str) -> str:
    """The profile for bubblewrap at this path."""
    return _PROFILE.format(bwrap=bwrap, name=_NAME, file=_FOLDER / _NAME)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--print", action="store_true", help="print the profile, install nothing")


def install(options: argparse.Namespace) -> int:
    """Install and load the profile. 0: done, or printed; 2: not possible here."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return _fail("bubblewrap (bwrap) is not on PATH; install it: apt install bubblewrap")
    if options.print:
        print(build_profile(bwrap), end="")  # noqa: T201 - a command
        return 0
    if not _FOLDER.is_dir() or shutil.which("apparmor_parser") is None:
        return _fail("this machine has no AppArmor, so bubblewrap needs no permission")
    if os.geteuid() != 0:
        return _fail(f"only root can install a profile: sudo {sys.executable} -m sandbox apparmor")
    (_FOLDER / _NAME).write_text(build_profile(bwrap))
    done = subprocess.run(
        ["apparmor_parser", "-r", str(_FOLDER / _NAME)], capture_output=True, text=True, check=False
    )
    return _fail(done.stderr.strip().replace("\n", " ")) if done.returncode else 0


def _fail(why: str) -> int:
    print(f"sandbox apparmor: {why}", file=sys.stderr)  # noqa: T201
    return 2
