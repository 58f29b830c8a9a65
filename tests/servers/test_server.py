"""The model server itself: five wires, the faults by name, and nothing of it left behind."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any

import pytest

from tests.doubles import png
from tests.servers.capabilities import Capabilities
from tests.servers.conversation import ServedReply, WireName
from tests.servers.faults import FAULTS, PASSING, Fault, Plan, Rate
from tests.servers.server import WIRES, ModelServer

EVERY_WIRE = pytest.mark.parametrize("wire", list(WIRES))
BODIES: dict[WireName, dict[str, Any]] = {
    "completions": {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
    "responses": {"model": "m", "input": "hello"},
    "messages": {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
    "interactions": {
        "model": "m",
        "input": [{"type": "user_input", "content": [{"type": "text", "text": "hello"}]}],
    },
}


def path_of(wire: WireName, *, stream: bool) -> str:
    path = WIRES[wire].path
    return path.replace(":generate", ":streamGenerate") if stream else path


def post(server: ModelServer, wire: WireName, **more: Any) -> tuple[int, bytes]:
    """Status and body of one request, its chunks put together."""
    connection = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=5)
    try:
        connection.request(
            "POST", "/v1" + path_of(wire, stream=bool(more.get("stream"))), json.dumps(BODIES[wire] | more)
        )
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@EVERY_WIRE
def test_a_text_of_the_script_comes_back_whole(wire: WireName) -> None:
    with ModelServer(["good morning"]) as server:
        status, body = post(server, wire)
    assert status == 200
    assert "good morning" in json.dumps(json.loads(body))


@EVERY_WIRE
def test_a_stream_holds_the_text_in_pieces(wire: WireName) -> None:
    with ModelServer(["good morning"]) as server:
        status, body = post(server, wire, stream=True)
    assert status == 200
    events = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")]
    assert sum('"good' in json.dumps(event) for event in events) >= 1
    assert len(events) >= 4


@EVERY_WIRE
def test_a_request_is_kept_as_it_came(wire: WireName) -> None:
    with ModelServer(["x"]) as server:
        post(server, wire)
        (request,) = server.requests
    assert (request.wire, request.turns[-1].role, request.turns[-1].text) == (wire, "user", "hello")
    assert request.body == BODIES[wire]


@EVERY_WIRE
def test_a_refused_parameter_is_named_in_a_400(wire: WireName) -> None:
    with ModelServer(["x"], can=Capabilities(refuses=frozenset({"temperature"}))) as server:
        status, body = post(server, wire, temperature=1)
    assert status == 400
    assert b"'temperature' is not supported" in body


@EVERY_WIRE
@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.status >= 400])
def test_an_error_status_is_what_its_row_says(wire: WireName, name: str) -> None:
    with ModelServer(["x"], weather=Plan([name])) as server:
        status, body = post(server, wire)
    assert status == FAULTS[name].status
    assert body


@pytest.mark.parametrize("name", ["cut", "reset", "reset half way", "closed without an answer"])
def test_a_broken_connection_is_no_whole_answer(name: str) -> None:
    with (
        ModelServer(["x" * 4000], weather=Plan([name])) as server,
        pytest.raises((http.client.HTTPException, ConnectionError)),
    ):
        post(server, "completions", stream=True)


def test_a_stalled_answer_ends_with_the_server() -> None:
    with ModelServer(["x"], weather=Plan(["stalled"])) as server:
        connection = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=5)
        connection.request("POST", "/v1/messages", json.dumps(BODIES["messages"]))
        assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize(("keeps", "expected"), [(False, "one "), (True, "one </code>")])
def test_the_text_ends_at_a_stop_string(*, keeps: bool, expected: str) -> None:
    with ModelServer(["one </code> two"], can=Capabilities(keeps_stop=keeps)) as server:
        _, body = post(server, "completions", stop=["</code>"])
    assert json.loads(body)["choices"][0]["message"]["content"] == expected


def test_a_token_limit_cuts_the_text() -> None:
    with ModelServer(["x" * 100]) as server:
        _, body = post(server, "messages", max_tokens=3)
    assert json.loads(body)["stop_reason"] == "max_tokens"


def test_the_turns_of_an_earlier_request_count_as_cached() -> None:
    messages = [{"role": "user", "content": "a" * 400}]
    longer = [*messages, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    with ModelServer(["x", "y"]) as server:
        post(server, "completions", messages=messages)
        _, body = post(server, "completions", messages=longer)
    assert json.loads(body)["usage"]["prompt_tokens_details"]["cached_tokens"] == 100


def test_chance_with_a_seed_is_the_same_each_time() -> None:
    falls = [Rate(0.3, seed=7)(number) for number in range(1000)]
    assert falls == [Rate(0.3, seed=7)(number) for number in range(1000)]
    assert 250 < sum(fall is not None for fall in falls) < 350
    assert {id(fall) for fall in falls if fall} == {id(FAULTS[name]) for name in PASSING}


def test_only_an_answer_without_a_fault_uses_up_a_reply() -> None:
    with ModelServer(
        ["first", "second"], weather=Plan(["500", None, Fault(status=200, body=b"{}")])
    ) as server:
        bodies = [post(server, "completions")[1] for _ in range(4)]
    assert [b"first" in body for body in bodies] == [False, True, False, False]
    assert b"second" in bodies[3]


def test_nothing_runs_on_when_the_server_is_closed() -> None:
    before = threading.active_count()
    with ModelServer([ServedReply("x")] * 3) as server:
        connection = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=5)
        connection.request("POST", "/v1/chat/completions", json.dumps(BODIES["completions"]))
        connection.getresponse().read()  # kept alive, with a thread that waits for the next request
    connection.close()
    assert threading.active_count() == before


def test_a_picture_of_every_wire_is_decoded() -> None:
    import base64

    data = base64.b64encode(png()).decode()
    url = f"data:image/png;base64,{data}"
    chat = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
    given = [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]
    source = {"type": "base64", "media_type": "image/png", "data": data}
    with ModelServer(["x"] * 3) as server:
        post(server, "completions", messages=chat)
        post(server, "responses", input=given)
        post(
            server, "messages", messages=[{"role": "user", "content": [{"type": "image", "source": source}]}]
        )
        assert [request.pictures for request in server.requests] == [(png(),)] * 3
