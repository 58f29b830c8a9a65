"""Run a command that reads a recorded run, as a person does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def pyvision(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyvision", *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
