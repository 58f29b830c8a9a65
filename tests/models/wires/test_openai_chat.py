"""The chat completions wire against a real server on loopback: what is sent, and what every fault becomes."""

from __future__ import annotations

import io
import random
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from PIL import Image, ImageDraw

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.endpoint import Endpoint
from pyvision.models.wires.openai_chat import openai_chat
from pyvision.types import Message, Picture, Reply, Sampling, Text, Usage
from tests.doubles import picture
from tests.servers.chat import Answer, ChatServer, completion, failure

KEY = "sk-very-secret-0123456789"
HELLO = (Message("user", (Text("hello"),)),)
STOP = Sampling(stop=("</code>",))


@contextmanager
def chat(server: ChatServer, **settings: Any) -> Iterator[Endpoint]:
    known: dict[str, Any] = {
        "model": "some-model",
        "base_url": server.base_url,
        "api_key": KEY,
        "timeout_s": 5.0,
    }
    model = openai_chat(ModelConfig("openai", **(known | settings)))
    try:
        yield model
    finally:
        model.close()


def ask(answers: Sequence[str | Answer], sampling: Sampling | None = None, **settings: Any) -> Reply:
    with ChatServer(answers) as server, chat(server, **settings) as model:
        return model.complete(HELLO, sampling or Sampling())


def fail(*answers: str | Answer, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(answers, **settings)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return caught.value


# --- what is sent


def test_a_reply_is_read_with_its_usage() -> None:
    assert ask(["hi"]) == Reply("hi", Usage(100, 10), "end")


def test_nothing_is_sent_that_was_not_set() -> None:
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete(HELLO, Sampling())
        assert server.requests == [
            {
                "model": "some-model",
                "messages": [{"role": "user", "content": "hello"}],
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ]


def test_the_key_goes_in_the_header_only() -> None:
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete(HELLO, Sampling())
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert KEY not in str(server.requests)


def test_configuration_fills_in_what_the_sampling_leaves_open() -> None:
    with ChatServer(["hi", "hi"]) as server:
        with chat(server, temperature=0.5, max_tokens=70, extra_body={"seed": 3}) as model:
            model.complete(HELLO, STOP)
            model.complete(HELLO, Sampling(temperature=0.0, max_tokens=9))
        first, second = server.requests
    assert (first["temperature"], first["max_tokens"], first["seed"]) == (0.5, 70, 3)
    assert first["stop"] == ["</code>"]
    assert (second["temperature"], second["max_tokens"]) == (0.0, 9)
    assert "stop" not in second


def test_openai_itself_gets_the_newer_name_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(["hi"]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        with chat(proxy, base_url="http://api.openai.com/v1", max_tokens=7) as model:
            model.complete(HELLO, Sampling())
        assert proxy.requests[0]["max_completion_tokens"] == 7
        assert "max_tokens" not in proxy.requests[0]


def test_a_system_message_is_sent_as_text() -> None:
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete((Message("system", (Text("be brief"),)), *HELLO), Sampling())
        assert server.requests[0]["messages"][0] == {"role": "system", "content": "be brief"}


def test_an_image_keeps_its_place_in_the_text() -> None:
    displayed = picture()
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete((Message("user", (Text("a"), displayed, Text("b"))),), Sampling())
        (user,) = server.requests[0]["messages"]
        assert server.pictures(0) == [displayed.data]
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]
    assert user["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_a_number_that_is_only_in_the_second_turns_image_reaches_the_server() -> None:
    number = str(random.randrange(10_000, 100_000))
    canvas = Image.new("L", (120, 30), "white")
    ImageDraw.Draw(canvas).text((5, 5), number, fill="black")
    file = io.BytesIO()
    canvas.save(file, "PNG")
    drawn = Picture(file.getvalue(), "image/png", 120, 30)
    with ChatServer(["<code>\nprint(1)\n", f"\\boxed{{{number}}}"]) as server, chat(server) as model:
        first = model.complete(HELLO, STOP)
        displayed = Message("user", (Text("<interpreter>"), drawn, Text("</interpreter>")))
        model.complete((*HELLO, Message("assistant", (Text(first.text),)), displayed), STOP)
        (received,) = server.pictures(1)
        assert server.pictures(0) == []
        assert number not in str(server.requests[1])
    assert Image.open(io.BytesIO(received)).tobytes() == canvas.tobytes()


def test_lone_surrogates_are_replaced_rather_than_refused() -> None:
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete((Message("user", (Text("a\ud800b"),)),), Sampling())
        assert server.requests[0]["messages"][0]["content"] == "a\ufffdb"


# --- stop strings and ends


def test_a_stop_string_that_the_server_keeps_is_cut_off() -> None:
    reply = ask([completion("<code>\nprint(1)\n</code>\nand on")], STOP)
    assert (reply.text, reply.finish) == ("<code>\nprint(1)\n", "stop")


def test_a_stop_reason_of_the_server_is_a_stop() -> None:
    answer = completion("<code>\nprint(1)\n")
    assert isinstance(answer.body, dict)
    answer.body["choices"][0]["stop_reason"] = "</code>"
    assert ask([answer], STOP).finish == "stop"


def test_a_reply_cut_at_its_length_says_so() -> None:
    assert ask([completion("and then", "length")]) == Reply("and then", Usage(100, 10), "length")


def test_a_refusal_is_a_reply() -> None:
    assert ask([completion(None, refusal="I will not.")]) == Reply("I will not.", Usage(100, 10), "refusal")


def test_a_content_filter_is_a_refusal() -> None:
    reply = ask([completion(None, "content_filter")])
    assert (reply.finish, bool(reply.text)) == ("refusal", True)


def test_content_in_parts_is_joined() -> None:
    parts: Any = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert ask([completion(parts)]).text == "ab"


def test_missing_usage_counts_nothing() -> None:
    assert ask([Answer({"choices": [{"message": {"content": "hi"}}]})]) == Reply("hi")


# --- parameters that a server refuses


each_refusal = pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "no", param="temperature", code="unsupported_value"),
        failure(400, "Unsupported parameter: 'temperature' is not supported with this model."),
        Answer({"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, 422),
    ],
)


def requests_of_two_calls(refusal: Answer) -> list[dict[str, Any]]:
    """All requests of two calls that succeed, although the first request is refused."""
    with ChatServer([refusal, "one", "two"]) as server:
        with chat(server, temperature=0.5, max_tokens=7) as model:
            assert model.complete(HELLO, STOP).text == "one"
            assert model.complete(HELLO, STOP).text == "two"
        return list(server.requests)


@each_refusal
def test_a_refused_parameter_is_never_sent_again(refusal: Answer) -> None:
    sent = ["temperature" in request for request in requests_of_two_calls(refusal)]
    assert sent == [True, False, False]


@each_refusal
def test_a_refused_parameter_takes_no_other_with_it(refusal: Answer) -> None:
    assert all({"max_tokens", "stop"} <= request.keys() for request in requests_of_two_calls(refusal))


def test_a_stop_parameter_that_is_refused_is_cut_here_instead() -> None:
    refusal = failure(400, "Unsupported parameter: 'stop' is not supported with this model.", param="stop")
    reply = ask([refusal, completion("a</code>b")], STOP)
    assert (reply.text, reply.finish) == ("a", "stop")


def test_a_refused_max_tokens_changes_its_name_before_it_is_dropped() -> None:
    first = failure(
        400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", param="max_tokens"
    )
    second = failure(400, "Unrecognized request argument supplied: max_completion_tokens")
    with ChatServer([first, second, "hi"]) as server, chat(server, max_tokens=7) as model:
        model.complete(HELLO, Sampling())
        sent = [[key for key in request if "tokens" in key] for request in server.requests]
    assert sent == [["max_tokens"], ["max_completion_tokens"], []]


def test_a_value_out_of_range_is_an_error_instead_of_being_dropped() -> None:
    wrong = failure(400, "temperature must be at most 2", param="temperature", code="invalid_value")
    assert "at most 2" in str(fail(wrong, temperature=9.0))


# --- faults: each becomes one ModelError


@pytest.mark.parametrize(
    ("answer", "retry", "expected"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), False, "set SOME_KEY"),
        (failure(401, "Incorrect API key provided: sk-very***6789."), False, "the key was refused (401)"),
        (failure(403, "no access"), False, "(403)"),
        (failure(404, "the model does not exist"), False, "check the model id"),
        (failure(400, "maximum context length is 10 tokens"), False, "maximum context length"),
        (failure(413, "too big"), False, "smaller images"),
        (failure(408, "slow"), True, "(408)"),
        (failure(429, "slow down"), True, "too many requests"),
        (failure(429, "quota", code="insufficient_quota"), False, "quota"),
        (failure(500, "oops"), True, "(500)"),
        (Answer("<html>Bad gateway</html>", 502), True, "(502)"),
        (failure(503, "overloaded"), True, "(503)"),
        (failure(529, "overloaded"), True, "(529)"),
        (Answer("<html>Welcome</html>"), True, "did not answer with JSON"),
        (Answer('{"choices": [{"mess'), True, "did not answer with JSON"),
        (Answer("[]"), True, "not an object"),
        (Answer(b"\xff\xfe\x00"), True, "did not answer with JSON"),
        (Answer({"error": {"message": "upstream is down"}}), True, "upstream is down"),
        (Answer({"error": f"bad key {KEY}"}), True, "bad key [secret]"),
        (Answer({"choices": []}), True, "no choices"),
        (Answer({"choices": None}), True, "did not return a valid reply"),
        (Answer({"choices": [{}]}), True, "did not return a valid reply"),
        (Answer({"choices": [None]}), True, "did not return a valid reply"),
        (completion(None), True, "empty"),
        (completion(""), True, "empty"),
        (completion(None, reasoning_content="I think"), True, "empty"),
        (completion(None, "length", reasoning_content="I think"), False, "raise max_tokens"),
        (completion(None, "tool_calls", tool_calls=[{"id": "1"}]), False, "called a tool"),
        (Answer("{", missing=10), True, "cannot be reached"),
    ],
)
def test_every_fault_becomes_an_error_of_its_own(answer: Answer, retry: object, expected: str) -> None:
    error = fail(answer, api_key_env="SOME_KEY")
    assert expected in str(error)
    assert error.retry is retry
    assert "sk-" not in str(error)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_the_endpoint_asks_to_wait_is_passed_on(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert fail(failure(429, "slow down", headers)).retry_after_s == wait_s


def test_a_date_to_wait_for_becomes_seconds() -> None:
    error = fail(failure(503, "maintenance", {"Retry-After": "Wed, 21 Oct 2195 07:28:00 GMT"}))
    assert error.retry_after_s is not None
    assert error.retry_after_s > 365 * 24 * 3600


@pytest.mark.parametrize(
    "value",
    ["0", "-5", "nan", "inf", "1e999", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "1 Jan 9999 00:00:00 -2359"],
)
def test_an_invalid_time_to_wait_is_ignored(value: str) -> None:
    retry_after_s = fail(failure(503, "maintenance", {"Retry-After": value})).retry_after_s
    assert retry_after_s is None or 0 < retry_after_s < 10**12


def test_a_silent_endpoint_is_given_up_after_its_time() -> None:
    error = fail(Answer("late", hang_s=20.0), timeout_s=0.2)
    assert (str(error).endswith("no answer within 0.2 s"), error.retry) == (True, True)


def test_a_local_server_that_was_never_there_is_not_waited_for() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        error = fail("unused", base_url=address)
    assert error.retry is False
    assert address in str(error)
    assert "is the server running?" in str(error)


def test_a_local_server_that_goes_away_is_waited_for() -> None:
    with ChatServer(["hi"]) as server, chat(server) as model:
        model.complete(HELLO, Sampling())
        server.__exit__(None, None, None)
        with pytest.raises(ModelError) as caught:
            model.complete(HELLO, Sampling())
        assert caught.value.retry is True


def test_a_local_server_needs_no_key() -> None:
    assert ask(["hi"], api_key=None).text == "hi"


def test_a_closed_model_opens_again_at_its_next_call() -> None:
    with ChatServer(["one", "two"]) as server, chat(server) as model:
        assert model.complete(HELLO, Sampling()).text == "one"
        model.close()
        assert model.complete(HELLO, Sampling()).text == "two"


def with_ids(prompt: object, said: object) -> Answer:
    """A completion as vLLM gives it when `return_token_ids` is set."""
    whole = completion("hi").body
    assert isinstance(whole, dict)
    choice = {**whole["choices"][0], "token_ids": said}
    return Answer({**whole, "choices": [choice], "prompt_token_ids": prompt})


def test_token_ids_are_kept_where_the_endpoint_gives_them() -> None:
    reply = ask([with_ids([1, 2, 3], [7, 8])], extra_body={"return_token_ids": True})
    assert (reply.prompt_ids, reply.token_ids) == ((1, 2, 3), (7, 8))


@pytest.mark.parametrize("ids", [None, "1, 2", [1, "2"], [True], {"1": 2}])
def test_invalid_token_ids_are_left_out(ids: object) -> None:
    reply = ask([with_ids(ids, ids)])
    assert (reply.text, reply.prompt_ids, reply.token_ids) == ("hi", (), ())
