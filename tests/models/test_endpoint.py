"""What is the same for every wire: streaming, the cut, time limits, faults, what is kept."""

from __future__ import annotations

import io
import json
import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from PIL import Image, ImageDraw

from pyvision.errors import ModelError
from pyvision.models.endpoint import Endpoint
from pyvision.models.wires.openai_chat import openai_chat
from pyvision.text.replies import reply_message
from pyvision.types import Message, Picture, Reply, Sampling, Text, TokenLogprob
from tests.sandbox.processes import wait_until
from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.chat import Answer, ChatServer, completion, failure
from tests.servers.conversation import ServedReply
from tests.servers.faults import Fault
from tests.servers.wires import MAKE, STOP, open_model, text

HELLO = (Message("user", (Text("hello"),)),)
CELL = "I look.\n<code>\n```python\nprint('</code>')\n```\n</code>"
HELD = Fault(share=0.5, ending="held")
EVERY_WIRE = pytest.mark.parametrize("wire", list(MAKE))


def texts(pieces: Sequence[object]) -> list[str]:
    return [piece for piece in pieces if isinstance(piece, str)]


def refusal(name: str) -> Fault:
    body = {"error": {"message": f"Unsupported parameter: '{name}'", "param": name, "code": "unsupported"}}
    return Fault(body=json.dumps(body).encode(), status=400, headers={"content-type": "application/json"})


# --- streams


@EVERY_WIRE
def test_the_text_of_a_stream_comes_in_pieces(wire: str) -> None:
    with open_model(wire, ["one two three four"]) as (model, _):
        *pieces, _last = model.stream(HELLO, Sampling())
    assert len(pieces) > 2
    assert "".join(texts(pieces)) == "one two three four"


@EVERY_WIRE
def test_the_last_piece_of_a_stream_is_the_whole_reply(wire: str) -> None:
    with open_model(wire, ["one two three four"]) as (model, _):
        *_, reply = model.stream(HELLO, Sampling())
    assert isinstance(reply, Reply)
    assert reply.text == "one two three four"


@EVERY_WIRE
def test_a_stream_leaves_its_connection_to_the_next_one(wire: str) -> None:
    with open_model(wire, ["one", "two", "three"]) as (model, server):
        for _ in range(3):
            model.complete(HELLO, Sampling())
    assert server.connection_count == 1


def test_a_stream_that_stays_open_after_its_last_event_ends_with_it() -> None:
    with open_model("completions", ["one"], faults=[Fault(ending="held")]) as (model, server):
        assert model.complete(HELLO, Sampling()).text == "one"
        wait_until(lambda: server.cut_short == 1)  # the client has closed the connection


@EVERY_WIRE
def test_the_tokens_of_a_stream_are_counted(wire: str) -> None:
    with open_model(wire, ["one two three four"]) as (model, _):
        *_, reply = model.stream(HELLO, Sampling())
    assert isinstance(reply, Reply)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


@EVERY_WIRE
@pytest.mark.parametrize("can", [CLEAN, Capabilities(streams=False)])
def test_an_endpoint_that_answers_in_one_piece_is_understood(wire: str, can: Capabilities) -> None:
    said = ServedReply("fine", reasoning="hm", input_tokens=7)
    with open_model(wire, [said, said], can, stream=can.streams) as (model, _):
        streamed, at_once = model.complete(HELLO, Sampling()), model.complete(HELLO, Sampling())
    for reply in (streamed, at_once):
        assert (reply.text, reply.reasoning, reply.finish) == ("fine", "hm", "end")


@EVERY_WIRE
def test_an_endpoint_whose_400_names_stream_is_asked_for_one_piece_from_then_on(wire: str) -> None:
    can = Capabilities(refuses=frozenset({"stream"})) if wire in {"completions", "messages"} else CLEAN
    faults = [] if can is not CLEAN else [refusal("stream")]
    with open_model(wire, ["one", "two"], can, faults) as (model, server):
        assert [model.complete(HELLO, Sampling()).text for _ in range(2)] == ["one", "two"]
        assert [request.streams for request in server.requests] == [True, False, False]


@EVERY_WIRE
def test_a_stream_that_is_closed_closes_its_connection(wire: str) -> None:
    with open_model(wire, ["long " * 100], faults=[HELD]) as (model, server):
        pieces = model.stream(HELLO, Sampling())
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert wait_until(lambda: server.cut_short == 1)


@EVERY_WIRE
def test_what_follows_the_stop_string_is_never_read(wire: str) -> None:
    can = Capabilities(honours_stop=False)
    with open_model(wire, [CELL + " and so on" * 100], can, [HELD]) as (model, server):
        pieces = list(model.stream(HELLO, STOP))
        assert wait_until(lambda: server.cut_short == 1)
    reply = pieces[-1]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == (CELL.removesuffix("</code>"), "stop")
    assert "".join(texts(pieces)) == reply.text


@EVERY_WIRE
@pytest.mark.parametrize(
    "can",
    [CLEAN, Capabilities(honours_stop=False), Capabilities(keeps_stop=True), Capabilities(streams=False)],
)
def test_a_stop_string_makes_the_same_reply_whatever_the_endpoint_does_with_it(
    wire: str, can: Capabilities
) -> None:
    said = "I look.\n<code>\n```python\nprint(1)\n```\n</code>\nand on"
    with open_model(wire, [said], can) as (model, _):
        reply = model.complete(HELLO, STOP)
    assert (reply.text, reply.finish) == ("I look.\n<code>\n```python\nprint(1)\n```\n", "stop")


@EVERY_WIRE
def test_a_reply_that_was_cut_here_still_counts_its_tokens(wire: str) -> None:
    with open_model(wire, [CELL + " on" * 400], Capabilities(honours_stop=False)) as (model, _):
        usage = model.complete(HELLO, STOP).usage
    assert usage.input_tokens > 0
    assert 5 < usage.output_tokens < 100


@EVERY_WIRE
def test_a_configuration_that_sends_no_stop_cuts_outside_strings_only(wire: str) -> None:
    with open_model(wire, [CELL + " on"], stop=False) as (model, server):
        assert model.complete(HELLO, STOP).text == CELL.removesuffix("</code>")
        assert not {"stop", "stop_sequences"} & server.requests[0].body.keys()


# --- images


@EVERY_WIRE
def test_a_number_that_is_only_in_the_second_turns_image_reaches_the_server(wire: str) -> None:
    number = str(random.randrange(10_000, 100_000))
    canvas = Image.new("L", (120, 30), "white")
    ImageDraw.Draw(canvas).text((5, 5), number, fill="black")
    file = io.BytesIO()
    canvas.save(file, "PNG")
    with open_model(wire, ["I look.", f"\\boxed{{{number}}}"]) as (model, server):
        first = model.complete(HELLO, STOP)
        figure = text("<image_clue_1>", Picture(file.getvalue(), "image/png", 120, 30), "</image_clue_1>")
        model.complete((*HELLO, reply_message(first), figure), STOP)
        assert server.requests[0].pictures == ()
        (received,) = server.requests[1].pictures
        assert number not in str(server.requests[1].body)
        assert [turn.role for turn in server.requests[1].turns] == ["user", "assistant", "user"]
    assert Image.open(io.BytesIO(received)).tobytes() == canvas.tobytes()


# --- time limits


@EVERY_WIRE
def test_the_time_of_a_question_bounds_the_reply(wire: str) -> None:
    with (
        open_model(wire, ["long " * 200], faults=[Fault(trickle_s=0.02)]) as (model, _),
        pytest.raises(ModelError, match=r"no whole reply within 0\.3 s"),
    ):
        model.complete(HELLO, Sampling(seconds=0.3))


@EVERY_WIRE
def test_an_error_that_trickles_is_cut_off_too(wire: str) -> None:
    fault = Fault(body=b"<html>" + b"x" * 5000, status=502, trickle_s=0.02)
    with (
        open_model(wire, ["x"], faults=[fault], total_s=0.3) as (model, server),
        pytest.raises(ModelError) as caught,
    ):
        model.complete(HELLO, Sampling())
    assert caught.value.retry
    # none if the time was over before the request
    assert wait_until(lambda: server.cut_short == len(server.requests))


# --- log probabilities


@pytest.mark.parametrize("wire", ["completions", "responses"])
@pytest.mark.parametrize("streams", [True, False])
def test_log_probabilities_come_for_the_tokens_of_the_text(wire: str, *, streams: bool) -> None:
    with open_model(wire, [CELL + "on" * 50], Capabilities(honours_stop=False), stream=streams) as (model, _):
        reply = model.complete(HELLO, Sampling(stop=("</code>",), logprobs=True))
    assert reply.logprobs[0] == TokenLogprob("I lo", -0.25, (("I lo", -0.25), ("?", -2.0)))
    expected = "".join(each.token for each in reply.logprobs)
    assert expected.startswith(reply.text)
    assert len(expected) < len(reply.text) + 8


@EVERY_WIRE
@pytest.mark.parametrize("refused", [frozenset(), frozenset({"logprobs", "top_logprobs", "include"})])
def test_an_endpoint_without_log_probabilities_says_so_once(
    wire: str, refused: frozenset[str], caplog: pytest.LogCaptureFixture
) -> None:
    can = Capabilities(gives_logprobs=False, refuses=refused)
    with open_model(wire, ["one", "two"], can, model="plain") as (model, server):
        with caplog.at_level(logging.WARNING, "pyvision.models"):
            replies = [model.complete(HELLO, Sampling(logprobs=True)) for _ in range(2)]
        assert not server.requests[-1].wants_logprobs
    assert [(reply.text, reply.logprobs) for reply in replies] == [("one", ()), ("two", ())]
    assert [record.getMessage() for record in caplog.records] == [
        "plain gives no log probabilities; replies come without them"
    ]


# --- kinds of faults


@EVERY_WIRE
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("context overflow", "context"),
        ("401", "auth"),
        ("403", "auth"),
        ("quota", "quota"),
        ("429", "rate"),
        ("model not found", "unknown_model"),
        ("413", "too_large"),
        ("503", "other"),
        ("200 html", "other"),
    ],
)
def test_a_fault_has_the_kind_that_a_caller_can_answer(wire: str, fault: str, kind: str) -> None:
    with open_model(wire, [], faults=[fault]) as (model, _), pytest.raises(ModelError) as caught:
        model.complete(HELLO, Sampling())
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "said",
    [
        "the request exceeds the available context size",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "This model's maximum context length is 8192 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Please reduce the length of the messages.",
    ],
)
def test_every_server_words_a_full_context_in_its_own_way(said: str) -> None:
    with (
        ChatServer([failure(400, said)]) as server,
        chat(server) as model,
        pytest.raises(ModelError) as caught,
    ):
        model.complete(HELLO, Sampling())
    assert (caught.value.kind, caught.value.retry) == ("context", False)


# --- answers that are odd


@contextmanager
def chat(server: ChatServer) -> Iterator[Endpoint]:
    from pyvision.config.model_config import ModelConfig

    with closing(openai_chat(ModelConfig("openai", "m", server.base_url, timeout_s=5.0))) as model:
        yield model


def received(body: str, content_type: str = "text/event-stream") -> Reply:
    answer = Answer(body, headers={"content-type": content_type})
    with ChatServer([answer]) as server, chat(server) as model:
        return model.complete(HELLO, Sampling())


def chunk(text: str | None = None, finish: str | None = None, **more: object) -> str:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice], **more})}\n\n"


def test_a_stream_without_its_content_type_is_one_all_the_same() -> None:
    assert received(chunk("hi") + chunk(finish="stop"), "text/plain").text == "hi"


def test_a_stream_that_ends_before_the_reply_does_is_a_passing_fault() -> None:
    with pytest.raises(ModelError, match="in the middle of the reply") as caught:
        received(chunk("hi"))
    assert caught.value.retry


def test_the_end_mark_is_an_end_without_a_reason_too() -> None:
    assert received(chunk("hi") + "data: [DONE]\n\n").finish == "end"


def test_an_error_in_mid_stream_is_raised() -> None:
    error = json.dumps({"error": {"code": 502, "message": "the provider is down"}})
    with pytest.raises(ModelError, match="the provider is down") as caught:
        received(chunk("hi") + f"data: {error}\n\n")
    assert caught.value.retry


def test_usage_that_comes_with_every_chunk_is_right_where_the_reply_is_cut() -> None:
    stream = "".join(
        chunk(text, usage={"prompt_tokens": 50, "completion_tokens": count})
        for count, text in enumerate(["<code>\n", "print(1)\n", "</code>", " on"], start=20)
    )
    answer = Answer(stream, headers={"content-type": "text/event-stream"})
    with ChatServer([answer]) as server, chat(server) as model:
        usage = model.complete(HELLO, STOP).usage
    assert (usage.input_tokens, usage.output_tokens) == (50, 22)


def test_azures_first_chunk_without_a_choice_does_no_harm() -> None:
    first = json.dumps({"object": "chat.completion.chunk", "choices": [], "prompt_filter_results": []})
    assert received(f"data: {first}\n\n" + chunk("hi") + chunk(finish="stop")).text == "hi"


def test_cached_tokens_are_counted() -> None:
    answer = completion("hi")
    assert isinstance(answer.body, dict)
    answer.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 64}
    with ChatServer([answer]) as server, chat(server) as model:
        assert model.complete(HELLO, Sampling()).usage.cached_tokens == 64
