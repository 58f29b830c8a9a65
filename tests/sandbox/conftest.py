"""Sessions and images for these tests: real kernels, shared where a test does not harm them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from sandbox import Policy, Sandbox, Session


def png(size: tuple[int, int] = (40, 30), colour: str = "red") -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", size, colour).save(sink, "PNG")
    return sink.getvalue()


@pytest.fixture
def short_temp() -> Iterator[Path]:
    """A folder with a path short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def sandbox(sandbox_of: Callable[[Policy], Sandbox]) -> Sandbox:
    return sandbox_of(Policy(cell_timeout_s=20))


@pytest.fixture(scope="session")
def short(sandbox_of: Callable[[Policy], Sandbox]) -> Sandbox:
    """A sandbox whose cells end after a second."""
    return sandbox_of(Policy(cell_timeout_s=1.0, interrupt_grace_s=0.5))


@pytest.fixture(scope="module")
def session(sandbox: Sandbox) -> Iterator[Session]:
    """For tests that leave the kernel alive; they share its variables."""
    with sandbox.open({"image_clue_0": png()}) as opened:
        yield opened
