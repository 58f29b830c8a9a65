"""The command line in a process of its own, with a model whose replies are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ANSWER = "<answer>\n\\boxed{64}\n</answer>"


def scripted(tmp_path: Path, *replies: str) -> str:
    file = tmp_path / "scripted.json"
    file.write_text(json.dumps({"wire": "scripted", "replies": list(replies)}), encoding="utf-8")
    return str(file)


def run_arguments(photo: Path, config: str) -> tuple[str, ...]:
    """The arguments that ask about a picture."""
    return ("run", "--image", str(photo), "--question", "?", "--config", config)


def pyvision(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyvision", *arguments],
        cwd=cwd,
        env={key: os.environ[key] for key in ("PATH", "HOME", "PYVISION_CONFIG") if key in os.environ}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
