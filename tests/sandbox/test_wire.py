"""The sockets of a host, against a stand-in for the kernel's side of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from sandbox import Policy
from sandbox.wire import Wire

_PATIENCE_MS = 5000


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    made: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    yield made
    made.destroy(linger=0)


@pytest.mark.parametrize("overlooked", [0, 1, 3])
def test_a_subscription_that_is_overlooked_is_sent_again(
    short_temp: Path, context: zmq.Context[zmq.Socket[bytes]], overlooked: int
) -> None:
    addresses = {channel: f"ipc://{short_temp}/{channel}" for channel in ("shell", "iopub")}
    output = context.socket(zmq.XPUB)
    output.setsockopt(zmq.RCVTIMEO, _PATIENCE_MS)
    output.bind(addresses["iopub"])

    def be_slow_to_notice() -> None:
        for _ in range(overlooked + 1):
            output.recv_multipart()
        output.send_multipart([b"<IDS|MSG>", b"", b'{"msg_type": "iopub_welcome"}'])

    kernel = threading.Thread(target=be_slow_to_notice)
    kernel.start()
    wire = Wire(context, addresses, "key", Policy())
    assert wire.wait_for_welcome()
    kernel.join()
    wire.close()
    output.close()


def test_a_kernel_that_welcomes_nobody_is_not_waited_for(
    short_temp: Path, context: zmq.Context[zmq.Socket[bytes]]
) -> None:
    wire = Wire(context, {name: f"ipc://{short_temp}/{name}" for name in ("shell", "iopub")}, "key", Policy())
    assert not wire.wait_for_welcome()
    wire.close()
