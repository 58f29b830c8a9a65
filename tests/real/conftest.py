"""The tiny model, built once, and a server process that serves it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real import conversation

_ROOT = Path(__file__).resolve().parents[2]
_UNTIL_READY_S = 180.0


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that knows the conversation by heart."""
    pytest.importorskip("torch", reason="make test-real installs it")
    folder = tmp_path_factory.mktemp("tiny")
    talks = conversation.talks(folder)
    _python("-m", "tests.real.tiny_vlm", str(talks), str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="session")
def transformers_serve(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a chat completions server; it is ended with the tests."""
    home = tmp_path_factory.mktemp("home")
    (home / "hub").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.real.serve",
                tiny_model.name,
                "--device",
                "cpu",
                "--port",
                str(port),
            ],
            cwd=tiny_model.parent,
            env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "PYTHONPATH": str(_ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(process, port, home / "log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _UNTIL_READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                json.load(answer)
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise RuntimeError(f"transformers serve did not come up: {log.read_text()[-2000:]}")


def _python(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=_ROOT, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
