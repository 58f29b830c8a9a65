"""Which parameters an endpoint accepts, and which it honours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.doctor.findings import Finding
from pyvision.doctor.probe_client import ProbeClient, ProbeReply, complaint, quote_start, turn
from pyvision.errors import ModelError
from pyvision.text.prompts import render
from pyvision.types import Sampling, Text

_ROOM = 2000  # tokens: enough for a model that thinks before it repeats a line
_SHORT = 16


@dataclass(frozen=True, slots=True)
class Names:
    """How a wire spells the parameters that are probed; what it does not have is empty."""

    stop: str
    limits: tuple[str, ...]
    logprobs: bool


NAMES: Mapping[str, Names] = {
    "openai": Names("stop", ("max_tokens", "max_completion_tokens"), logprobs=True),
    "responses": Names("", ("max_output_tokens",), logprobs=True),
    "anthropic": Names("stop_sequences", ("max_tokens",), logprobs=False),
}


def parameters(client: ProbeClient) -> Iterator[Finding]:
    """Everything at once, then again without what a refusal names, until it is taken."""
    names = NAMES[client.config.wire]
    body: dict[str, Any] = {"temperature": 0, names.limits[0]: _ROOM}
    body |= {names.stop: ["</code>"]} if names.stop else {}
    probe_reply, refused = _without_the_refused(client, body, names)
    yield _stop(names, probe_reply, refused)
    yield _temperature(refused)
    yield _limit(client, names, refused)
    yield _logprobs(names, probe_reply)


def _without_the_refused(
    client: ProbeClient, body: dict[str, Any], names: Names
) -> tuple[ProbeReply, frozenset[str]]:
    """The first reply that comes, and which keys had to go for it. `body` is what was sent in the end."""
    messages = turn(Text(render("doctor/repeat.md", line="one </code> two")))
    refused: frozenset[str] = frozenset()
    while True:
        try:
            return client.ask(messages, Sampling(logprobs=names.logprobs), **body), refused
        except ModelError as error:
            named = next((name for name in body if re.search(rf"\b{name}\b", str(error))), None)
            if named is None or client.calls_left <= 0:
                raise
            refused |= {named}
            value = body.pop(named)
            spare = [name for name in names.limits if name not in refused]
            if named in names.limits and spare:
                body[spare[0]] = value


def _stop(names: Names, probe_reply: ProbeReply, refused: frozenset[str]) -> Finding:
    if not names.stop:
        return Finding("stop", "not applicable", "this wire has none; replies are cut by PyVision")
    if names.stop in refused:
        return Finding("stop", "refused", "replies are cut by PyVision", names.stop)
    if "two" in probe_reply.text:
        return Finding("stop", "no", "accepted and ignored; replies are cut by PyVision")
    if "one" not in probe_reply.text:
        return Finding(
            "stop", "unclear", f"the model did not repeat the line: {quote_start(probe_reply.text)}"
        )
    kept = ", the stop string kept in the text" if "</code>" in probe_reply.text else ""
    return Finding("stop", "yes", f"accepted and honoured{kept}")


def _temperature(refused: frozenset[str]) -> Finding:
    if "temperature" in refused:
        return Finding("temperature", "refused", value="temperature")
    return Finding("temperature", "yes", "accepted")


def _limit(client: ProbeClient, names: Names, refused: frozenset[str]) -> Finding:
    name = next((name for name in names.limits if name not in refused), None)
    if name is None:
        return Finding("token limit", "refused", ", ".join(names.limits))
    if client.calls_left <= 0:
        return Finding("token limit", "unclear", f"{name} is accepted", value=name)
    try:
        probe_reply = client.ask(
            turn(Text(render("doctor/count.md", last=300))), **dict[str, Any]({name: _SHORT})
        )
    except ModelError as error:
        return Finding("token limit", "yes", f"{name}: {complaint(error)}", value=name)
    if probe_reply.reply.finish == "length" or len(probe_reply.text) < 8 * _SHORT:
        return Finding("token limit", "yes", f"{name}, honoured", value=name)
    return Finding("token limit", "no", f"{name} is accepted and ignored", value=name)


def _logprobs(names: Names, probe_reply: ProbeReply) -> Finding:
    """The wire itself leaves them out where they are refused."""
    if not names.logprobs:
        return Finding("log probabilities", "not applicable", "this wire has none")
    if not probe_reply.reply.logprobs:
        return Finding("log probabilities", "no", "refused, or ignored", value="logprobs")
    return Finding("log probabilities", "yes", "one for each token")
