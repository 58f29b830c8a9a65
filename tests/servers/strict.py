"""What real endpoints reject in a conversation with tool calls: one list of rules, and how each wire words its items.

A result must follow its call, before anything else is said; each call needs one; what was sealed comes back unchanged;
pictures stand in results only where the API takes them; a parameter of another API is an error. Over Anthropic's
messages, thinking holds only after the conversation that it was thought in, and a temperature or a way to think is an
error for the models, and the version of the API, that refuse it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from tests.servers.conversation import Failure, Request, ServedReply, WireName


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in a request. seal: of a call; fault: what its own form breaks."""

    kind: Literal["said", "call", "result"]
    id: str = ""
    seal: str | None = None
    fault: str = ""


class Strictness:
    """Remembers what each call was sealed with, and after which conversation. Shared by the threads of a server.

    rejected: why, in order.
    """

    def __init__(self, *, pictures_in_results: bool | None = None) -> None:
        self.rejected: list[str] = []
        self._pictures_in_results = pictures_in_results
        self._seals: dict[str, str | None] = {}
        self._before: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def remember(self, request: Request, reply: ServedReply) -> None:
        with self._lock:
            sealed = reply.seal if reply.reasoning else None
            self._seals |= {call.id: sealed for call in reply.calls}
            if sealed and request.wire == "messages":
                before = _conversation(request.body, request.body["messages"])
                self._before.setdefault(sealed, set()).add(before)

    def check(self, request: Request) -> Failure | None:
        """The complaint about the first thing that is wrong."""
        fault = next(self._faults(request), None)
        if fault is None:
            return None
        with self._lock:
            self.rejected.append(fault)
        return Failure(400, f"invalid_request: {fault}", "invalid_request_error")

    def _faults(self, request: Request) -> Iterator[str]:
        body = request.body
        yield from (f"{name} is not permitted" for name in sorted(body.keys() & _FOREIGN[request.wire]))
        if body.keys() & {"tool_choice", "toolConfig"} and not body.get("tools"):
            yield "tool_choice needs tools"
        in_results = self._pictures_in_results
        allowed = request.wire != "completions" if in_results is None else in_results
        items = list(_ITEMS[request.wire](body, allowed))
        yield from (item.fault for item in items if item.fault)
        if any(item.kind == "call" for item in items) and not body.get("tools"):
            yield "calls without tools"
        if request.wire == "completions":
            yield from _gpt_faults(body)
        if request.wire == "interactions":
            yield from self._unsigned(items)
        if request.wire == "messages":
            yield from _claude_faults(request)
            yield from self._unbound(body)
        yield from _order(items)
        yield from (
            f"the seal of call {item.id} was changed"
            for item in items
            if item.kind == "call" and item.id in self._seals and item.seal != self._seals[item.id]
        )

    def _unsigned(self, items: list[Item]) -> Iterator[str]:
        """A call of another model has no thought before it, and is rejected."""
        foreign = (
            item.id
            for item in items
            if item.kind == "call" and item.seal is None and item.id not in self._seals
        )
        yield from (f"Function call {call_id} is missing a thought signature" for call_id in foreign)

    def _unbound(self, body: dict[str, Any]) -> Iterator[str]:
        """As platform.claude.com words it, preserved thinking: the system prompt, the tools and all messages count."""
        for at, turn in enumerate(body["messages"]):
            for place, block in enumerate(turn["content"]):
                known = self._before.get(block.get("signature", ""))
                if known is not None and _conversation(body, body["messages"][:at]) not in known:
                    yield (
                        f"messages.{at}.content.{place}: Invalid `signature` in `thinking` block. "
                        "The block is bound to a different conversation."
                    )


def _conversation(body: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    """What thinking is bound to: marks of the prompt cache and earlier thinking are no part of it."""
    turns = [
        (turn["role"], [_unmarked(block) for block in turn["content"] if block["type"] != "thinking"])
        for turn in messages
    ]
    return json.dumps([[_unmarked(block) for block in body.get("system", [])], body.get("tools"), turns])


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _gpt_faults(body: dict[str, Any]) -> Iterator[str]:
    model, effort = body.get("model", ""), body.get("reasoning_effort")
    if body.get("tools") and effort != "none" and re.match(r"gpt-(5\.[4-9]|6)", model):
        yield (
            f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        )


def _claude_faults(request: Request) -> Iterator[str]:
    body, model = request.body, request.body.get("model", "")
    thinking = body.get("thinking", {}).get("type")
    kinds = next((kinds for pattern, kinds in _THINKING.items() if fnmatchcase(model, pattern)), _ALL_KINDS)
    if thinking not in {None, *kinds}:
        yield f'"thinking.type.{thinking}" is not supported for this model.'
    if "temperature" not in body:
        return
    if request.headers.get("anthropic-version") != "2023-06-01":
        yield "temperature is not permitted"
    if kinds != _ALL_KINDS:
        yield "`temperature` is deprecated for this model."
    if thinking in {"adaptive", "enabled"} and body["temperature"] != 1:
        yield "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."


def _order(items: list[Item]) -> Iterator[str]:
    waiting: set[str] = set()
    answers = False
    for item in (*items, Item("said")):
        if item.kind == "call":
            if answers and waiting:
                yield f"no result for {sorted(waiting)}"
            waiting, answers = (waiting if not answers else set()) | {item.id}, False
        elif item.kind == "result":
            answers = True
            if item.id not in waiting:
                yield f"a result for {item.id!r}, which was not called in the turn before"
            waiting.discard(item.id)
        elif waiting:
            yield f"no result for {sorted(waiting)}"
            waiting = set()


def _completions(body: dict[str, Any], pictures: bool) -> Iterator[Item]:
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            extra = call.get("extra_content") or {}
            seal = extra.get("google", {}).get("thought_signature")
            yield Item("call", call["id"], seal, _json_fault(call["function"]["arguments"]))
        if message["role"] == "tool":
            content = message["content"]
            kinds = {part["type"] for part in content} if isinstance(content, list) else {"text"}
            fault = "" if pictures or kinds <= {"text"} else "a tool message holds text only"
            yield Item("result", message["tool_call_id"], fault=fault)
        elif not message.get("tool_calls"):
            yield Item("said")


def _responses(body: dict[str, Any], pictures: bool) -> Iterator[Item]:
    seal: str | None = None
    custom: set[str] = set()
    for item in body["input"]:
        match item.get("type", "message"):
            case "reasoning":
                seal = item["encrypted_content"]
            case "function_call":
                fault = (
                    "" if seal else _json_fault(item["arguments"])
                )  # a sealed one comes back as it was given
                yield Item("call", item["call_id"], seal, fault)
            case "custom_tool_call":
                custom.add(item["call_id"])
                yield Item("call", item["call_id"], seal)
            case "function_call_output" | "custom_tool_call_output" as kind:
                seal = None
                kinds = {part["type"] for part in item["output"]}
                fault = "" if pictures or kinds <= {"input_text"} else "an output holds text only"
                if (item["call_id"] in custom) != kind.startswith("custom"):
                    fault = "an output of another kind than its call"
                yield Item("result", item["call_id"], fault=fault)
            case _:
                if item["role"] != "assistant":
                    seal = None
                    yield Item("said")


def _messages(body: dict[str, Any], pictures: bool) -> Iterator[Item]:
    last = ""
    for turn in body["messages"]:
        if turn["role"] == last:
            yield Item("said", fault=f"two turns of the {last} in a row")
        last, seal, is_said = turn["role"], None, False
        for block in turn["content"]:
            match block["type"]:
                case "thinking":
                    seal = block["signature"]
                case "tool_use":
                    fault = "" if isinstance(block["input"], dict) else "the input is no object"
                    yield Item("call", block["id"], seal, fault)
                case "tool_result":
                    kinds = {part["type"] for part in block["content"]}
                    fault = "tool_result must come first" if is_said else ""
                    if kinds - {"text"} and (block.get("is_error") or not pictures):
                        fault = "a result that is an error holds text only"
                    yield Item("result", block["tool_use_id"], fault=fault)
                case _ if turn["role"] == "user":
                    is_said = True
                    yield Item("said")


def _gemini(body: dict[str, Any], pictures: bool) -> Iterator[Item]:
    for turn in body["contents"]:
        parts = turn["parts"]
        calls = [part for part in parts if "functionCall" in part]
        seal = calls[0].get("thoughtSignature") if calls else None  # one for all calls of the turn
        for called in (part["functionCall"] for part in calls):
            fault = "" if isinstance(called["args"], dict) else "the arguments are no object"
            fault = fault if seal else "a call without a thoughtSignature"
            yield Item("call", called["id"], None if seal == _FOREIGN_CALL else seal, fault)
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        for result in results:
            fault = "" if pictures or not result.get("parts") else "a functionResponse holds text only"
            yield Item("result", result["id"], fault=fault)
        if turn["role"] == "user" and len(parts) > len(results):
            yield Item("said", fault="a turn of results holds nothing else" if results else "")


def _interactions(body: dict[str, Any], pictures: bool) -> Iterator[Item]:
    """As Google's guide to stateless function calling has it: a thought, its calls, and a result for each."""
    settings = body.get("generation_config", {})
    unknown = sorted({*(body.keys() - _OF_INTERACTIONS), *(settings.keys() - _OF_GENERATION)})
    yield from (Item("said", fault=f"Unknown parameter {name!r}") for name in unknown)
    if body.get("store") is not False:
        yield Item("said", fault="the conversation is stored")
    seal: str | None = None
    for step in body["input"]:
        match step["type"]:
            case "thought":
                seal = step["signature"]
            case "function_call":
                fault = "" if isinstance(step["arguments"], dict) else "the arguments are no object"
                yield Item("call", step["id"], seal, fault)
            case "function_result":
                seal = None
                yield Item("result", step["call_id"], fault=_result_fault(step, pictures))
            case "user_input":
                seal = None
                yield Item("said", fault=_empty_fault(step["content"]))
            case "model_output":
                fault = _empty_fault(step["content"])
                yield from [Item("said", fault=fault)] if fault else []
            case kind:
                yield Item("said", fault=f"an unknown step {kind!r}")


def _result_fault(step: dict[str, Any], pictures: bool) -> str:
    result = step["result"]
    if "name" not in step:
        return "Invalid input received."
    if isinstance(result, str):
        return ""
    return _empty_fault(result) if pictures else "Multimodal function responses are not supported"


def _empty_fault(content: list[dict[str, Any]]) -> str:
    is_full = content and all(part["type"] != "text" or part["text"] for part in content)
    return "" if is_full else "a text part holds no text"


def _json_fault(arguments: str) -> str:
    try:
        return "" if isinstance(json.loads(arguments), dict) else "arguments are no object"
    except ValueError:
        return "arguments are no JSON"


_ITEMS: Mapping[WireName, Callable[[dict[str, Any], bool], Iterator[Item]]] = {
    "completions": _completions,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
    "interactions": _interactions,
}
_FOREIGN: Mapping[WireName, frozenset[str]] = {
    "completions": frozenset({"input", "include", "system", "max_output_tokens", "stop_sequences"}),
    "responses": frozenset({"messages", "stop", "max_tokens", "stop_sequences", "stream_options"}),
    "messages": frozenset({"stop", "store", "input", "logprobs", "stream_options"}),
    "gemini": frozenset({"messages", "stop", "tool_choice", "max_tokens", "system", "input"}),
    "interactions": frozenset(),
}
_OF_INTERACTIONS = frozenset(
    {"model", "input", "system_instruction", "tools", "generation_config", "store", "stream"}
)
_OF_GENERATION = frozenset(
    {
        "temperature",
        "max_output_tokens",
        "stop_sequences",
        "tool_choice",
        "thinking_level",
        "thinking_summaries",
    }
)
_ALL_KINDS = frozenset({"adaptive", "disabled", "enabled"})
_THINKING = {  # the kinds of thinking that a model takes, where they are not all; none of these takes a temperature
    "claude-opus-4-[78]": frozenset({"adaptive", "disabled"}),
    "claude-opus-5-5": frozenset({"adaptive"}),
    "claude-sonnet-5-5": frozenset({"adaptive", "between_tools"}),
    "claude-haiku-5-5": frozenset({"adaptive", "disabled"}),
    "claude-fable-*": frozenset({"adaptive"}),
    "claude-opus-5": frozenset({"adaptive", "disabled"}),
    "claude-sonnet-5": frozenset({"adaptive", "disabled"}),
}
_FOREIGN_CALL = "skip_thought_signature_validator"  # the signature of a call that the model did not write
