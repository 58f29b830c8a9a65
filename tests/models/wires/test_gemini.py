"""The Gemini wire against a server on loopback: what is sent, and what comes of what it answers."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.wires.gemini import gemini
from pyvision.text.replies import reply_message
from pyvision.types import Message, Opaque, Picture, Reply, Sampling, Text, ToolCall, ToolOffer
from tests.doubles import picture
from tests.servers import wires
from tests.servers.conversation import ServedReply
from tests.servers.faults import Fault
from tests.servers.server import ModelServer
from tests.servers.wires import CELL, HELLO, STOP, answer, text

open_model = partial(wires.open_model, "gemini")

KEY = "AIzaSy-very-secret-0123456789"


def refusal(status: int, message: str, *details: dict[str, Any]) -> Fault:
    return answer({"error": {"code": status, "message": message, "details": list(details)}}, status)


def candidate(reason: str | None, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": reason}]}


def error_of(fault: Fault, **settings: Any) -> ModelError:
    with open_model([], faults=[fault], **settings) as (model, _), pytest.raises(ModelError) as caught:
        model.complete(HELLO, Sampling())
    return caught.value


def test_nothing_is_sent_that_was_not_set() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].body == {
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
        }


def test_what_is_set_goes_into_the_generation_config() -> None:
    with open_model(["hi"], temperature=0.5, max_tokens=70) as (model, server):
        model.complete(HELLO, STOP)
        settings = server.requests[0].body["generationConfig"]
    assert settings == {"temperature": 0.5, "maxOutputTokens": 70, "stopSequences": ["</code>"]}


def test_a_field_that_a_configuration_adds_is_beside_ours() -> None:
    with open_model(["hi"], max_tokens=70, extra_body={"generationConfig": {"topK": 5}}) as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].body["generationConfig"] == {"maxOutputTokens": 70, "topK": 5}


@pytest.mark.parametrize(
    ("detail", "sent"), [("low", {"mediaResolution": "MEDIA_RESOLUTION_LOW"}), ("auto", None), (None, None)]
)
def test_detail_is_the_media_resolution(detail: str | None, sent: object) -> None:
    with open_model(["hi"], detail=detail) as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].body.get("generationConfig") == sent


@pytest.mark.parametrize(("stream", "method"), [(True, "streamGenerateContent"), (False, "generateContent")])
def test_the_model_is_in_the_address(method: str, *, stream: bool) -> None:
    with open_model(["hi"], model="models/gemini-3.6-flash", stream=stream) as (model, server):
        assert model.complete(HELLO, Sampling()).text == "hi"
        place = server.requests[0].path.partition("?")[0]
    assert place == f"/v1beta/models/gemini-3.6-flash:{method}"


def test_an_address_with_a_version_keeps_it() -> None:
    with ModelServer(["hi"]) as server:
        config = ModelConfig("gemini", "m", server.base_url + "/")
        with closing(gemini(config)) as other:
            other.complete(HELLO, Sampling())
        assert server.requests[0].path.startswith("/v1/models/m:")


def test_the_key_is_in_a_header_alone() -> None:
    with open_model(["hi"], api_key=KEY) as (model, server):
        model.complete(HELLO, Sampling())
        (request,) = server.requests
    assert request.headers["x-goog-api-key"] == KEY
    assert "authorization" not in request.headers
    assert KEY not in request.path + json.dumps(request.body)


def test_a_model_name_cannot_leave_its_place_in_the_address() -> None:
    with open_model(["hi"], model="../../evil?x=1") as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].path.startswith("/v1beta/models/..%2F..%2Fevil%3Fx%3D1:")


def test_a_growing_conversation_keeps_its_beginning_byte_for_byte() -> None:
    turns = [*HELLO]
    with open_model([CELL] * 4) as (model, server):
        for number in range(4):
            reply = model.complete(turns, STOP)
            displayed = text(f"<image_clue_{number}>", picture(), "ok")
            turns += [reply_message(reply), displayed]
        bodies = [request.body for request in server.requests]
    for earlier, later in pairwise(bodies):
        sent = json.dumps(earlier["contents"])[:-1]
        assert json.dumps(later["contents"]).startswith(sent)


def test_turns_of_one_role_are_joined_since_roles_alternate() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete((*HELLO, text("again"), text("yes", role="assistant"), text("so")), Sampling())
        turns = server.requests[0].body["contents"]
    assert [turn["role"] for turn in turns] == ["user", "model", "user"]
    assert turns[0]["parts"] == [{"text": "hello"}, {"text": "again"}]


def test_empty_text_which_the_api_refuses_is_left_out() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete((*HELLO, text("", role="assistant"), text("", picture())), Sampling())
        (turn,) = server.requests[0].body["contents"]
    assert [list(part) for part in turn["parts"]] == [["text"], ["inlineData"]]


@pytest.mark.parametrize("stream", [True, False])
def test_thoughts_are_reasoning_apart_from_the_text(*, stream: bool) -> None:
    with open_model([ServedReply("fine", reasoning="hm")], stream=stream) as (model, _):
        reply = model.complete(HELLO, Sampling())
    assert (reply.text, reply.reasoning) == ("fine", "hm")


def test_thoughts_count_as_output() -> None:
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    body = candidate("STOP", {"text": "so"}) | {"usageMetadata": counts | {"cachedContentTokenCount": 4}}
    with open_model([], faults=[answer(body)]) as (model, _):
        usage = model.complete(HELLO, Sampling()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (9, 32, 4)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("STOP", "end"), ("MAX_TOKENS", "length"), ("SAFETY", "refusal"), ("PROHIBITED_CONTENT", "refusal"),
     ("RECITATION", "refusal"), ("SPII", "refusal"), ("BLOCKLIST", "refusal"), ("OTHER", "end")],
)  # fmt: skip
def test_every_finish_reason_has_its_meaning(reason: str, finish: str) -> None:
    with open_model([], faults=[answer(candidate(reason, {"text": "so"}))]) as (model, _):
        assert model.complete(HELLO, Sampling()).finish == finish


def test_a_question_that_is_blocked_is_a_refusal() -> None:
    with open_model([], faults=[answer({"promptFeedback": {"blockReason": "SAFETY"}})]) as (model, _):
        reply = model.complete(HELLO, Sampling())
    assert (reply.finish, "content filter" in reply.text) == ("refusal", True)


def test_a_function_call_that_could_not_be_read_is_named_as_one() -> None:
    assert "called a tool" in str(error_of(answer(candidate("MALFORMED_FUNCTION_CALL"))))


def test_a_call_that_could_not_be_read_is_an_empty_reply_where_tools_were_offered() -> None:
    offered = Sampling(tools=(ToolOffer("run_python", "run", "code", "the code"),))
    with open_model([], faults=[answer(candidate("MALFORMED_FUNCTION_CALL"))]) as (model, _):
        reply = model.complete(HELLO, offered)
    assert (reply.text, reply.calls, reply.finish) == ("", (), "end")


def test_log_probabilities_come_with_the_likeliest_tokens() -> None:
    with open_model(["good morning"]) as (model, server):
        reply = model.complete(HELLO, Sampling(logprobs=True))
        settings = server.requests[0].body["generationConfig"]
    assert settings == {"responseLogprobs": True, "logprobs": 5}
    assert [each.token for each in reply.logprobs] == ["good", " mor", "ning"]
    assert reply.logprobs[0].top == (("good", -0.25),)


def test_an_unknown_parameter_is_left_out_from_then_on() -> None:
    message = "Invalid JSON payload received. Unknown name \"stopSequences\" at 'generation_config'"
    with open_model(["one", "two"], faults=[refusal(400, message)]) as (model, server):
        assert [model.complete(HELLO, STOP).text for _ in range(2)] == ["one", "two"]
        sent = ["stopSequences" in request.body.get("generationConfig", {}) for request in server.requests]
    assert sent == [True, False, False]


def test_a_bad_key_is_named_although_the_status_is_400() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    error = error_of(refusal(400, "API key not valid.", detail), api_key=KEY, api_key_env="GEMINI_API_KEY")
    assert error.kind == "auth"
    assert "the key was refused (400); set GEMINI_API_KEY" in str(error)
    assert KEY not in str(error)


QUOTA = "You exceeded your current quota, please check your plan and billing details."
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def test_a_limit_per_minute_is_waited_for_as_long_as_the_details_say() -> None:
    error = error_of(refusal(429, QUOTA, RETRY))
    assert (error.kind, error.retry, error.retry_after_s) == ("rate", True, 34.5)


@pytest.mark.parametrize("details", [(), (RETRY, {"quotaId": "GenerateRequestsPerDayPerProject"})])
def test_a_quota_that_is_used_up_is_not_waited_for(details: tuple[dict[str, Any], ...]) -> None:
    error = error_of(refusal(429, QUOTA, *details))
    assert (error.kind, error.retry) == ("quota", False)


def test_a_context_that_is_too_long_is_an_error_of_its_own_kind() -> None:
    message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    assert error_of(refusal(400, message)).kind == "context"


# --- tool calls

RUN = ToolOffer("run_python", "Runs code.", "code", "The code.")
OFFERED = Sampling(tools=(RUN,))
CALL = {"functionCall": {"name": "run_python", "args": {"code": "print(1)"}}, "thoughtSignature": "c2ln+/=="}
SECOND = {"functionCall": {"id": "f2", "name": "run_python", "args": {"code": "print(2)"}}}


def result(call: ToolCall, *parts: str | Picture, is_error: bool = False) -> Message:
    return Message("tool", text(*parts).parts, call_id=call.id, is_error=is_error)


def called(*parts: dict[str, Any]) -> Reply:
    with open_model([], faults=[answer(candidate("STOP", *parts))]) as (model, _):
        return model.complete(HELLO, OFFERED)


def contents_after(reply: Reply, *results: Message, **settings: Any) -> Any:
    """The turns after the question in the request that holds these results."""
    with open_model(["done"], **settings) as (model, server):
        model.complete((*HELLO, reply_message(reply), *results), OFFERED)
        return server.requests[0].body["contents"][1:]


def test_tools_are_declared_with_their_schema() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, OFFERED)
        body = server.requests[0].body
    ((declared,),) = (tool["functionDeclarations"] for tool in body["tools"])
    assert (declared["name"], declared["parametersJsonSchema"]["required"]) == ("run_python", ["code"])
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}


def last_turn() -> dict[str, Any]:
    """The body of a request that forbids the model to call its tool."""
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, Sampling(tools=(RUN,), tool_choice="none"))
        body: dict[str, Any] = server.requests[0].body
        return body


def test_the_last_turn_forbids_calls() -> None:
    assert last_turn()["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


def test_the_last_turn_keeps_the_declarations() -> None:
    assert last_turn()["tools"]


def test_calls_come_in_their_order_with_ids_of_their_own() -> None:
    reply = called({"text": "I look."}, CALL, SECOND)
    assert [(call.name, json.loads(call.arguments)["code"]) for call in reply.calls] == [
        ("run_python", "print(1)"),
        ("run_python", "print(2)"),
    ]
    assert len({call.id for call in reply.calls}) == 2


def test_received_parts_go_back_as_they_came() -> None:
    thought = {"text": "hm", "thought": True}
    reply = called(thought, {"text": "I look."}, CALL, SECOND)
    one, two = reply.calls
    model_turn, results = contents_after(reply, result(one, "1"), result(two, "2"))
    assert model_turn == {"role": "model", "parts": [{"text": "I look."}, CALL, SECOND]}
    assert [part["functionResponse"].get("id") for part in results["parts"]] == [None, "f2"]


def test_text_that_came_in_pieces_goes_back_as_one_part() -> None:
    chunks = [candidate(None, {"text": "I "}), candidate(None, {"text": "look."}), candidate("STOP", CALL)]
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    with open_model([], faults=[Fault(body=stream, headers={"content-type": "text/event-stream"})]) as (
        model,
        _,
    ):
        reply = model.complete(HELLO, OFFERED)
    assert contents_after(reply, result(reply.calls[0], "1"))[0]["parts"] == [{"text": "I look."}, CALL]


def function_response() -> dict[str, Any]:
    """What is sent of the result of a call that has a text and an image."""
    reply = called(CALL)
    (_, turn) = contents_after(reply, result(reply.calls[0], "40", picture()))
    (part,) = turn["parts"]
    response: dict[str, Any] = part["functionResponse"]
    return response


def test_a_result_contains_its_text() -> None:
    response = function_response()
    assert (response["name"], response["response"]) == ("run_python", {"output": "40"})


def test_a_result_contains_its_images() -> None:
    assert [list(image) for image in function_response()["parts"]] == [["inlineData"]]


def test_a_result_that_is_an_error_says_so() -> None:
    reply = called(CALL)
    (_, turn) = contents_after(reply, result(reply.calls[0], "no such tool", is_error=True))
    assert turn["parts"][0]["functionResponse"]["response"] == {"error": "no such tool"}


def test_results_stand_in_a_turn_of_their_own() -> None:
    reply = called(CALL)
    turns = contents_after(reply, result(reply.calls[0], "1"), text("<image_clue_1>", picture()))
    assert [list(part) for turn in turns[1:] for part in turn["parts"]] == [
        ["functionResponse"],
        ["text"],
        ["inlineData"],
    ]
    assert len(turns) == 3


def test_a_call_of_another_model_goes_out_with_the_documented_signature() -> None:
    call = ToolCall("toolu_1", "run_python", '{"code": "print(1)"}')
    other = Message("assistant", (Text("I look."), call), opaque=Opaque("anthropic:claude", "[]"))
    with open_model(["done"]) as (model, server):
        model.complete((*HELLO, other, result(call, "1")), OFFERED)
        _, model_turn, results = server.requests[0].body["contents"]
    assert model_turn["parts"][1]["thoughtSignature"] == "skip_thought_signature_validator"
    assert model_turn["parts"][1]["functionCall"]["id"] == results["parts"][0]["functionResponse"]["id"]


def test_the_signature_of_a_reply_that_ended_at_a_stop_string_goes_back() -> None:
    """The API leaves the stop string out; it is put back behind what was signed."""
    says = [ServedReply(CELL, reasoning="hm", seal=f"c2ln+/{number}=") for number in range(3)]
    turns = [*HELLO]
    with open_model(says) as (model, server):
        for _ in says:
            turns += [reply_message(model.complete(turns, STOP)), text("output")]
        bodies = [request.body["contents"] for request in server.requests]
    assert bodies[2][1::2] == [
        {
            "role": "model",
            "parts": [
                {"text": CELL.removesuffix("</code>")},
                {"text": "", "thoughtSignature": f"c2ln+/{number}="},
                {"text": "</code>"},
            ],
        }
        for number in range(2)
    ]
    assert bodies[2][: len(bodies[1])] == bodies[1]


def test_a_signature_does_not_go_back_with_a_text_that_was_cut() -> None:
    parts = [{"text": CELL + " and more"}, {"text": "", "thoughtSignature": "c2ln"}]
    opaque = Opaque("gemini:m", json.dumps(parts))
    with open_model(["hi"]) as (model, server):
        model.complete((*HELLO, Message("assistant", (Text(CELL),), opaque=opaque)), STOP)
        assert server.requests[0].body["contents"][1]["parts"] == [{"text": CELL}]


def test_nothing_is_opaque_where_nothing_is_signed() -> None:
    assert called({"text": "so"}).opaque is None
