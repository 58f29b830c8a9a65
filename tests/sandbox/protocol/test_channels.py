"""The channels of a host, against a stand-in for the kernel's side of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from sandbox import Policy
from sandbox.protocol.channels import Channels
from sandbox.protocol.messages import Messages

_PATIENCE_MS = 5000
_KEY = "key"


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    made: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    yield made
    made.destroy(linger=0)


@pytest.fixture
def paths(short_temp: Path) -> dict[str, Path]:
    return {"shell": short_temp / "shell", "iopub": short_temp / "iopub"}


@pytest.mark.parametrize("overlooked", [0, 1, 3])
def test_a_subscription_that_is_overlooked_is_sent_again(
    paths: dict[str, Path],
    context: zmq.Context[zmq.Socket[bytes]],
    overlooked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sandbox.protocol.channels._WELCOME_S", 60.0)  # on any machine, however busy
    output = context.socket(zmq.XPUB)
    output.setsockopt(zmq.RCVTIMEO, _PATIENCE_MS)
    output.setsockopt(zmq.XPUB_VERBOSE, 1)
    output.bind(f"ipc://{paths['iopub']}")

    def be_slow_to_notice() -> None:
        for _ in range(overlooked + 1):
            output.recv_multipart()
        output.send_multipart(Messages(_KEY).write("iopub_welcome", {})[1])

    kernel = threading.Thread(target=be_slow_to_notice)
    kernel.start()
    channels = Channels(paths, _KEY, Policy())
    assert channels.wait_for_welcome()
    kernel.join()
    channels.close()
    output.close()


def test_a_missing_welcome_is_not_waited_for_without_limit(
    paths: dict[str, Path], context: zmq.Context[zmq.Socket[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.protocol.channels._WELCOME_S", 0.2)
    output = context.socket(zmq.XPUB)
    output.bind(f"ipc://{paths['iopub']}")
    channels = Channels(paths, _KEY, Policy())
    assert not channels.wait_for_welcome()
    channels.close()
    output.close()


def test_a_kernel_that_stopped_listening_sends_no_welcome(paths: dict[str, Path]) -> None:
    channels = Channels(paths, _KEY, Policy())
    assert not channels.wait_for_welcome()
    channels.close()
