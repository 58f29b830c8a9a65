"""What an endpoint is asked, and what its replies mean: one function for each thing to find out.

A probe is given the patient and returns its findings; a ModelError it does not answer itself goes to the
examination. What is judged is what came back, never what a documentation promises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.doctor import pictures
from pyvision.doctor.pictures import convention
from pyvision.doctor.probe_client import (
    Finding,
    ProbeClient,
    ProbeReply,
    Subject,
    Verdict,
    complaint,
    quote_start,
    turn,
)
from pyvision.errors import FormatError, ModelError
from pyvision.strategies.code_loop.opening import open_conversation
from pyvision.text.prompts import render
from pyvision.text.replies import find_code
from pyvision.types import Message, Part, Question, Sampling, Text

_MANY = (24, 8, 3, 2)  # pictures to try in one request; more than 20 is a limit of its own at one provider
_AT_MOST = re.compile(r"at most (\d+) image|(?:maximum|limit)\D{0,40}?(\d+) images?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Probe:
    """What is found out, and by whom: `subjects` are the lines of the table that it fills."""

    subjects: tuple[Subject, ...]
    look: Callable[[ProbeClient], Iterator[Finding]]


def reach(client: ProbeClient) -> Iterator[Finding]:
    probe_reply = client.ask(turn(Text(render("doctor/count.md", last=40))))
    yield Finding("reachable", "yes", f"answered with {len(probe_reply.text)} characters")
    if probe_reply.pieces > 1:
        yield Finding("streams", "yes", f"the reply came in {probe_reply.pieces} pieces")
    else:
        yield Finding("streams", "no", "the reply came in one piece")


def two_turns(client: ProbeClient) -> Iterator[Finding]:
    """A picture in the first user turn and one in the second, as figures come."""
    first, second = (pictures.numeral(number) for number in pictures.numbers(2, "turns"))
    messages = (
        *turn(first.picture, Text(render("doctor/numbers.md"))),
        Message("assistant", (Text(first.numbers[0]),)),  # told, so that only the second is in doubt
        Message("user", (second.picture, Text(render("doctor/later_turn.md")))),
    )
    read = _numbers_in(client.ask(messages).text)
    yield _seen("sees later pictures", second.numbers[0] in read)


def several(client: ProbeClient) -> Iterator[Finding]:
    """Many pictures in one request; fewer where an endpoint refuses so many."""
    counts, told = list(_MANY), ""
    while counts and client.calls_left > 0:
        count = counts.pop(0)
        try:
            read = _read_many(client, count)
        except ModelError as error:
            if error.retry:
                raise
            told = complaint(error)
            counts = [number for number in (_allowed(told),) if number and number < count] or counts
        else:
            yield _judge(count, read, told)
            return
    yield Finding("sees many at once", "refused", told, value=1 if not counts else None)


def smallest(client: ProbeClient) -> Iterator[Finding]:
    """The eye chart: how low a numeral may be, down to which every row was read."""
    chart = pictures.eye_chart()
    read = _numbers_in(client.ask(turn(chart.picture, Text(render("doctor/numbers.md")))).text)
    heights = []
    for number, height_px in zip(chart.numbers, pictures.CHART_HEIGHTS_PX, strict=True):
        if number not in read:
            break
        heights.append(height_px)
    width = pictures.CHART_SIZE[0]
    yield _seen("sees a picture", bool(read & set(chart.numbers)))
    if heights:
        told = f"{heights[-1]} px high in a picture {width} px wide"
        yield Finding("smallest numeral", "yes", told, value=heights[-1])
    else:
        yield Finding("smallest numeral", "no", f"none of {pictures.CHART_HEIGHTS_PX[0]} px or less was read")


def boxes(client: ProbeClient) -> Iterator[Finding]:
    probe_reply = client.ask(turn(pictures.red_rectangle(), Text(render("doctor/box.md"))))
    found = convention(probe_reply.text, pictures.BOX, pictures.BOXED_SIZE)
    if found is None:
        yield Finding("box coordinates", "unclear", f"fits no convention: {quote_start(probe_reply.text)}")
    else:
        yield Finding("box coordinates", "yes", found.told, value=found.name)


def protocol(client: ProbeClient) -> Iterator[Finding]:
    """The question as the code loop asks it: does the first reply hold a cell?"""
    question = Question(render("doctor/protocol.md"), (pictures.circles(),))
    before, parts = open_conversation(question, None, None, {})
    probe_reply = client.ask((*before, Message("user", parts)))
    try:
        code = find_code(probe_reply.text)
    except FormatError as error:
        yield Finding("writes <code> cells", "no", str(error))
        return
    if code is None:
        yield Finding("writes <code> cells", "no", f"no cell in the reply: {quote_start(probe_reply.text)}")
    else:
        yield Finding("writes <code> cells", "yes", "the first reply holds a cell")


def _seen(what: Subject, seen: bool) -> Finding:  # noqa: FBT001 - it is the finding itself
    return Finding(what, "yes", "read") if seen else Finding(what, "no", "the number in it was not read")


def _read_many(client: ProbeClient, count: int) -> int:
    """How many of the first pictures were read, without a gap."""
    shown = [pictures.numeral(number) for number in pictures.numbers(count, f"{count} pictures")]
    parts: list[Part] = [each.picture for each in shown]
    read = _numbers_in(client.ask(turn(*parts, Text(render("doctor/numbers.md")))).text)
    seen = [each.numbers[0] in read for each in shown]
    return seen.index(False) if False in seen else count


def _allowed(told: str) -> int | None:
    """How many pictures an endpoint says it takes."""
    named = _AT_MOST.search(told)
    return int(named[1] or named[2]) if named else None


def _judge(count: int, read: int, told: str) -> Finding:
    """What `read` of `count` pictures in one request means; `told`: why more of them were refused."""
    refused = f"; more are refused: {told}" if told else ""
    if read == count:
        verdict: Verdict = "yes" if count > 1 else "no"
        limit = count if told else None
        return Finding("sees many at once", verdict, f"{count} in one request, all read{refused}", limit)
    if read > count // 2:
        return Finding("sees many at once", "unclear", f"{read} of {count} read without a gap{refused}")
    return Finding("sees many at once", "no", f"only {read} of {count} read{refused}", read or None)


def _numbers_in(text: str) -> set[str]:
    return set(re.findall(r"(?<!\d)\d{4}(?!\d)", text))


# ---- Which parameters an endpoint accepts, and which it honours.


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


PROTOCOL = Probe(("writes <code> cells",), protocol)
PROBES = (
    Probe(("reachable", "streams"), reach),
    Probe(("stop", "temperature", "token limit", "log probabilities"), parameters),
    Probe(("sees a picture", "smallest numeral"), smallest),
    Probe(("sees later pictures",), two_turns),
    Probe(("sees many at once",), several),
    Probe(("box coordinates",), boxes),
    PROTOCOL,
)
