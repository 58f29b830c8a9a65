"""The kernelspec, installed for these tests alone, and what a Jupyter client gets from its kernel."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox.jupyter import kernelspec


def arguments(*words: str) -> argparse.Namespace:
    """Of `python -m sandbox install`."""
    parser = argparse.ArgumentParser()
    kernelspec.add_arguments(parser)
    return parser.parse_args(words)


@contextmanager
def installed(*words: str) -> Iterator[Path]:
    """A folder below which the kernel `sandbox` is installed, and where Jupyter keeps all its files."""
    from sandbox.jupyter.provisioner import ENGINES

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", folder)  # of the engines
        patch.setenv("JUPYTER_PATH", f"{folder}/share/jupyter")
        patch.setenv("JUPYTER_RUNTIME_DIR", f"{folder}/runtime")
        patch.setenv("JUPYTER_CONFIG_DIR", f"{folder}/config")
        patch.setenv("IPYTHONDIR", f"{folder}/ipython")
        assert kernelspec.install(arguments("--prefix", folder, *words)) == 0
        try:
            yield Path(folder)
        finally:
            ENGINES.close()


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one cell: `text` of its streams, and its other messages by kind and content."""

    status: str
    text: str = ""
    shown: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def ran(client: Any, code: str, timeout_s: float = 20.0) -> Ran:
    """Run a cell to its end. Raises TimeoutError."""
    messages: list[dict[str, Any]] = []
    reply = client.execute_interactive(code, timeout=timeout_s, output_hook=messages.append)
    pairs = [(message["msg_type"], message["content"]) for message in messages]
    text = "".join(content["text"] for kind, content in pairs if kind == "stream")
    return Ran(reply["content"]["status"], text, [pair for pair in pairs if pair[0] != "stream"])
