"""Jupyter messages: against jupyter_client, and against what only a hostile kernel would send."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session

from sandbox.policy import MIB
from sandbox.protocol.messages import MALFORMED, Messages
from sandbox.protocol.zmtp import Frame

_KEY = "key"
_HEADER, _PARENT = b'{"msg_type":"stream"}', b'{"msg_id":"1"}'


def signed(header: bytes, parent: bytes, content: bytes, *buffers: bytes) -> list[Frame]:
    parts = [header, parent, b"{}", content]
    mac = hmac.new(_KEY.encode(), b"".join(parts), hashlib.sha256).hexdigest().encode()
    return [b"topic", b"<IDS|MSG>", mac, *parts, *buffers]


def test_a_kernel_understands_what_is_written() -> None:
    identity, parts = Messages(_KEY).write("execute_request", {"code": "é"}, [b"buffer"])
    _, frames = Session(key=_KEY.encode()).feed_identities([bytes(part) for part in parts])
    message: dict[str, Any] = Session(key=_KEY.encode()).deserialize(frames)
    assert (message["msg_type"], message["content"]) == ("execute_request", {"code": "é"})
    assert message["msg_id"] == identity
    assert [bytes(buffer) for buffer in message["buffers"]] == [b"buffer"]


def test_no_two_messages_have_the_same_identity() -> None:
    messages = Messages(_KEY)
    assert len({messages.write("a", {})[0] for _ in range(10)}) == 10


def test_what_a_kernel_sends_is_read() -> None:
    session = Session(key=_KEY.encode())
    message = session.msg("stream", {"text": "a"}, parent=session.msg("execute_request")["header"])
    received = Messages(_KEY).read([b"topic", *session.serialize(message), b"buffer"])
    assert (received.kind, received.parent) == ("stream", message["parent_header"]["msg_id"])
    assert (received.content, received.buffers) == ({"text": "a"}, [b"buffer"])


def test_a_message_without_a_parent_is_read() -> None:
    received = Messages(_KEY).read(signed(_HEADER, b"{}", b'{"text":"a"}'))
    assert (received.kind, received.parent) == ("stream", None)


def test_buffers_are_bytes() -> None:
    received = Messages(_KEY).read([*signed(_HEADER, _PARENT, b"{}"), bytearray(b"buffer")])
    assert [type(buffer) for buffer in received.buffers] == [bytes]


def test_another_key_makes_it_malformed() -> None:
    assert Messages("another").read(signed(_HEADER, _PARENT, b"{}")) is MALFORMED


@pytest.mark.parametrize(
    ("header", "parent", "content"),
    [
        (_HEADER, _PARENT, b"[]"),
        (_HEADER, _PARENT, b'{"a":'),
        (_HEADER, _PARENT, '{"a":"é"}'.encode()),
        (_HEADER, _PARENT, '{"a":1}'.encode("utf-16")),
        (_HEADER, _PARENT, b'{"a":' + b"7" * 401 + b"}"),
        (_HEADER, _PARENT, b"[" * 100_000),
        (_HEADER, _PARENT, b'{"a":[' + b"{}," * MIB + b"0]}"),
        (_HEADER, _PARENT, b'{"a":"\\u00e9' + b"x" * (14 * MIB) + b'"}'),
        (_HEADER, b"[]", b"{}"),
        (b'{"msg_type":1}', _PARENT, b"{}"),
        (b"{}", _PARENT, b"{}"),
        (b"[]", _PARENT, b"{}"),
        (b'{"msg_type":"' + b"x" * 70_000 + b'"}', _PARENT, b"{}"),
        (_HEADER, b'{"msg_id":"' + b"x" * 70_000 + b'"}', b"{}"),
    ],
)
def test_what_no_kernel_sends_is_malformed(header: bytes, parent: bytes, content: bytes) -> None:
    assert Messages(_KEY).read(signed(header, parent, content)) is MALFORMED


def test_a_content_over_the_limit_is_malformed() -> None:
    assert Messages(_KEY, 10).read(signed(_HEADER, _PARENT, b'{"text":"a"}')) is MALFORMED


def test_a_piece_of_text_of_the_largest_size_is_read() -> None:
    content = json.dumps({"text": "\U0001f600" * 2**20}).encode()
    assert len(Messages(_KEY).read(signed(_HEADER, _PARENT, content)).content["text"]) == 2**20


def test_a_figure_of_the_largest_size_is_read() -> None:
    content = json.dumps({"data": {"image/png": "A" * (22 * MIB)}}).encode()
    assert (
        len(Messages(_KEY).read(signed(_HEADER, _PARENT, content)).content["data"]["image/png"]) == 22 * MIB
    )


@given(st.lists(st.sampled_from([b"<IDS|MSG>", b"", b"{}", b"[]", b"null", b"\xff", _HEADER]), max_size=9))
def test_no_sequence_of_parts_raises_an_exception(parts: list[Frame]) -> None:
    assert Messages(_KEY).read(parts) is MALFORMED


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_no_signed_content_raises_an_exception(header: bytes, parent: bytes, content: bytes) -> None:
    assert isinstance(Messages(_KEY).read(signed(header, parent, content)).content, dict)
