"""The strict server rejects what the real ones do: without that, no conversation could be rejected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.conversation import Request, ServedCall, ServedReply, WireName
from tests.servers.strict import Strictness

TOOLS = [{"name": "run_python"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "run_python", "arguments": "{}"}}
SEALED = {**CALL, "extra_content": {"google": {"thought_signature": "s"}}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "1"}
USER = {"role": "user", "content": "?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
USE = {"type": "tool_use", "id": "c1", "name": "run_python", "input": {}}


FUNCTION_CALL = {"name": "run_python", "id": "c1", "args": {}}
GEMINI_CALL = {"functionCall": FUNCTION_CALL, "thoughtSignature": "skip_thought_signature_validator"}
SIGNED_CALL = {"functionCall": FUNCTION_CALL, "thoughtSignature": "s"}
ASKED = {"role": "user", "parts": [{"text": "?"}]}


def rejected(
    wire: WireName, body: dict[str, Any], *, sealed: bool = False, headers: dict[str, str] | None = None
) -> str | None:
    strict = Strictness()
    asked = Request(wire, "", {}, {"tools": TOOLS, "messages": []}, 0, ())
    reply = ServedReply("", reasoning="hm" if sealed else "", calls=(ServedCall("c1", "{}"),), seal="s")
    strict.remember(asked, reply)
    failure = strict.check(Request(wire, "", headers or {}, {"tools": TOOLS, **body}, 0, ()))
    return failure.message if failure else None


def chat(
    *messages: dict[str, Any], calls: tuple[dict[str, Any], ...] = (CALL,), **body: Any
) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return {"messages": [USER, said, *messages], **body}


def anthropic(user: list[dict[str, Any]], said: tuple[dict[str, Any], ...] = (USE,)) -> dict[str, Any]:
    return {"messages": [{"role": "assistant", "content": list(said)}, {"role": "user", "content": user}]}


def result(**fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "c1", "content": [], **fields}


def response(**fields: Any) -> dict[str, Any]:
    named = {"name": "run_python", "id": "c1", "response": {"output": "1"}}
    return {"functionResponse": named | fields}


def contents(*user: dict[str, Any], call: dict[str, Any] = GEMINI_CALL) -> dict[str, Any]:
    turns = [ASKED, {"role": "model", "parts": [call]}, {"role": "user", "parts": list(user)}]
    return {"contents": turns}


def test_a_conversation_in_order_is_accepted() -> None:
    assert rejected("completions", chat(RESULT, USER)) is None
    assert rejected("completions", chat(RESULT, calls=(SEALED,)), sealed=True) is None
    assert rejected("messages", anthropic([result()], (THINKING, USE)), sealed=True) is None
    assert rejected("gemini", contents(response(parts=[{"inlineData": {}}]))) is None
    assert rejected("gemini", contents(response(), call=SIGNED_CALL), sealed=True) is None
    assert rejected("interactions", steps(STEP_RESULT), sealed=True) is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (chat(USER), "no result"),
        (chat(), "no result"),
        (chat(RESULT, RESULT), "not called in the turn before"),
        (chat({**RESULT, "tool_call_id": "c2"}), "not called"),
        (chat({**RESULT, "content": [PICTURE]}), "holds text only"),
        (chat(RESULT, calls=({**CALL, "function": {"name": "n", "arguments": "{"}},)), "no JSON"),
        (chat(RESULT, store=False, stop_sequences=[]), "not permitted"),
        (chat(RESULT, tools=[]), "calls without tools"),
        (chat(RESULT, model="gpt-6.2-sol"), "use /v1/responses"),
        (chat(RESULT, model="gpt-5.4", reasoning_effort="low"), "use /v1/responses"),
    ],
)
def test_chat_completions_that_break_a_rule_are_rejected(body: dict[str, Any], why: str) -> None:
    assert why in str(rejected("completions", body))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (anthropic([{"type": "text", "text": "?"}, result()]), "must come first"),
        (anthropic([result(is_error=True, content=[{"type": "image"}])]), "text only"),
        (anthropic([result()], ({**USE, "input": "{}"},)), "no object"),
    ],
)
def test_messages_that_break_a_rule_are_rejected(body: dict[str, Any], why: str) -> None:
    assert why in str(rejected("messages", body))


SAMPLED = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("fields", "headers", "why"),
    [
        ({"model": "claude-haiku-4-5", "temperature": 0}, {}, "temperature is not permitted"),
        ({"model": "claude-opus-4-7", "temperature": 0}, SAMPLED, "deprecated for this model"),
        ({"model": "claude-sonnet-5-5", "temperature": 1}, SAMPLED, "deprecated for this model"),
        ({"temperature": 0, "thinking": {"type": "adaptive"}}, SAMPLED, "may only be set to 1"),
        ({"model": "claude-opus-5-5", "thinking": {"type": "disabled"}}, {}, "thinking.type.disabled"),
        ({"model": "claude-sonnet-5-5", "thinking": {"type": "disabled"}}, {}, "thinking.type.disabled"),
    ],
)
def test_what_a_claude_refuses_is_rejected(fields: dict[str, Any], headers: dict[str, str], why: str) -> None:
    assert why in str(rejected("messages", anthropic([result()]) | fields, headers=headers))


def test_a_temperature_is_accepted_where_the_model_takes_one() -> None:
    body = anthropic([result()]) | {"model": "claude-sonnet-4-6", "temperature": 0}
    assert rejected("messages", body, headers=SAMPLED) is None


@pytest.mark.parametrize("changed", ["system", "tools", "messages"])
def test_thinking_after_another_conversation_is_rejected(changed: str) -> None:
    body = anthropic([result()], (THINKING, USE))
    before = {"role": "user", "content": [{"type": "text", "text": "?"}]}
    edited = {
        "system": {"system": [{"type": "text", "text": "be brief"}]},
        "tools": {"tools": [{"name": "run_python"}, {"name": "look"}]},
        "messages": {"messages": [before, *body["messages"]]},
    }[changed]
    assert "bound to a different conversation" in str(rejected("messages", body | edited, sealed=True))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (contents({"text": "1"}), "no result"),
        (contents(response(id="c2")), "not called"),
        (contents(response(), {"text": "so?"}), "nothing else"),
        (contents(response(), call={"functionCall": FUNCTION_CALL}), "without a thoughtSignature"),
        ({**contents(response()), "toolConfig": {}, "tools": []}, "needs tools"),
        ({**contents(response()), "max_tokens": 5}, "max_tokens is not permitted"),
    ],
)
def test_contents_that_break_a_rule_are_rejected(body: dict[str, Any], why: str) -> None:
    assert why in str(rejected("gemini", body))


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("gemini", contents(response())),
        ("gemini", contents(response(), call={**SIGNED_CALL, "thoughtSignature": "s="})),
        ("completions", chat(RESULT)),
        (
            "completions",
            chat(RESULT, calls=({**SEALED, "extra_content": {"google": {"thought_signature": "S"}}},)),
        ),
        ("messages", anthropic([result()])),
        ("messages", anthropic([result()], ({**THINKING, "signature": "s "}, USE))),
    ],
)
def test_a_seal_that_is_missing_or_changed_is_rejected(wire: WireName, body: dict[str, Any]) -> None:
    assert "seal" in str(rejected(wire, body, sealed=True))


STEP_RESULT = {"type": "function_result", "call_id": "c1", "name": "run_python", "result": "1"}


def steps(*after: dict[str, Any], signed: bool = True, **fields: Any) -> dict[str, Any]:
    """The body of a request over the Interactions API: a question, a call and what comes after it."""
    asked = {"type": "user_input", "content": [{"type": "text", "text": "?"}]}
    called = {"type": "function_call", "id": "c1", "name": "run_python", "arguments": {}}
    thought = [{"type": "thought", "signature": "s"}] if signed else []
    return {"input": [asked, *thought, called, *after], "store": False, **fields}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (steps(), "no result"),
        (steps({**STEP_RESULT, "call_id": "c2"}), "not called"),
        (steps(STEP_RESULT, signed=False), "seal"),
        (steps({name: STEP_RESULT[name] for name in ("type", "call_id", "result")}), "Invalid input"),
        (steps({**STEP_RESULT, "result": [{"type": "text", "text": ""}]}), "no text"),
        (steps(STEP_RESULT, store=True), "stored"),
        (steps(STEP_RESULT, temperature=1), "Unknown parameter 'temperature'"),
        (steps(STEP_RESULT, {"type": "message"}), "unknown step"),
    ],
)
def test_steps_that_break_a_rule_are_rejected(body: dict[str, Any], why: str) -> None:
    assert why in str(rejected("interactions", body, sealed=True))


def test_a_call_without_a_thought_is_rejected_unless_it_was_written_so() -> None:
    unsigned = steps(STEP_RESULT, signed=False)
    assert rejected("interactions", unsigned) is None
    unsigned["input"][1]["id"] = unsigned["input"][2]["call_id"] = "c9"
    assert "missing a thought signature" in str(rejected("interactions", unsigned))


def test_an_output_of_another_kind_than_its_call_is_rejected() -> None:
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "run_python", "input": ""}
    output = {"type": "function_call_output", "call_id": "c1", "output": []}
    assert "another kind" in str(rejected("responses", {"input": [call, output]}))
