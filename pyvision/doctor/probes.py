"""The probes of an endpoint: what each sends, and what it concludes from the replies.

A probe takes the client and yields findings; a ModelError that it does not handle is reported by `run_probes`. Only
replies count, never what a documentation promises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyvision.config.reasoning import find_family
from pyvision.doctor import pictures
from pyvision.doctor.pictures import convention
from pyvision.doctor.probe_client import (
    ProbeClient,
    ProbeFinding,
    ProbeReply,
    Subject,
    Verdict,
    complaint,
    quote_start,
    turn,
)
from pyvision.errors import FormatError, ModelError
from pyvision.models.unsupported_parameters import find_unsupported
from pyvision.strategies.code_loop.protocol import ToolProtocol
from pyvision.strategies.code_loop.turns import open_conversation
from pyvision.text.prompts import render
from pyvision.text.replies import find_code, reply_message
from pyvision.types import Message, Part, Question, Reply, Sampling, Text

_MANY = (24, 8, 3, 2)  # images to try in one request; one provider has a separate limit beyond 20
_AT_MOST = re.compile(r"at most (\d+) image|(?:maximum|limit)\D{0,40}?(\d+) images?", re.IGNORECASE)
_MAX_TOKENS = 2000  # enough for a model that reasons before it repeats a line
_FEW_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Probe:
    """A function, and the lines of the table that it fills."""

    subjects: tuple[Subject, ...]
    find: Callable[[ProbeClient], Iterator[ProbeFinding]]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the probed parameters in one API; empty for a parameter that it does not have.

    section: the object of a request that holds them; empty if they stand beside the messages.
    """

    stop: str
    limits: tuple[str, ...]
    logprobs: bool
    section: str = ""

    def place(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters where a request holds them."""
        return {self.section: dict(parameters)} if self.section else dict(parameters)


def reach(client: ProbeClient) -> Iterator[ProbeFinding]:
    probe_reply = client.ask(turn(Text(render("doctor/count.md", last=40))))
    yield ProbeFinding("reachable", "yes", f"answered with {len(probe_reply.text)} characters")
    if probe_reply.pieces > 1:
        yield ProbeFinding("streams", "yes", f"the reply came in {probe_reply.pieces} pieces")
    else:
        yield ProbeFinding("streams", "no", "the reply came in one piece")


def parameters(client: ProbeClient) -> Iterator[ProbeFinding]:
    """Sends all parameters at once, then again without each that the endpoint rejects, until a request succeeds."""
    names = NAMES[client.config.wire]
    body: dict[str, Any] = {"temperature": 0, names.limits[0]: _MAX_TOKENS}
    body |= {names.stop: ["</code>"]} if names.stop else {}
    probe_reply, refused = _ask_without_refused(client, body, names)
    yield _stop(names, probe_reply, refused)
    yield _temperature(refused)
    yield _limit(client, names, refused)
    yield _logprobs(names, probe_reply)


def smallest(client: ProbeClient) -> Iterator[ProbeFinding]:
    """The eye chart: the height of the last row before the first that was not read."""
    chart = pictures.eye_chart()
    read = _numbers_in(client.ask(turn(chart.picture, Text(render("doctor/numbers.md")))).text)
    heights = []
    for number, height_px in zip(chart.numbers, pictures.CHART_HEIGHTS_PX, strict=True):
        if number not in read:
            break
        heights.append(height_px)
    width = pictures.CHART_SIZE[0]
    yield _read_finding("sees a picture", bool(read & set(chart.numbers)))
    if heights:
        detail = f"{heights[-1]} px high in an image {width} px wide"
        yield ProbeFinding("smallest numeral", "yes", detail, value=heights[-1])
    else:
        yield ProbeFinding(
            "smallest numeral", "no", f"none of {pictures.CHART_HEIGHTS_PX[0]} px or less was read"
        )


def two_turns(client: ProbeClient) -> Iterator[ProbeFinding]:
    """An image in the first user turn and another in the second, as with figures."""
    first, second = (pictures.numeral(number) for number in pictures.numbers(2, "turns"))
    messages = (
        *turn(first.picture, Text(render("doctor/numbers.md"))),
        Message("assistant", (Text(first.numbers[0]),)),  # given, so that only the second is tested
        Message("user", (second.picture, Text(render("doctor/later_turn.md")))),
    )
    read = _numbers_in(client.ask(messages).text)
    yield _read_finding("sees later pictures", second.numbers[0] in read)


def several(client: ProbeClient) -> Iterator[ProbeFinding]:
    """Many images in one request; fewer if the endpoint rejects them."""
    counts, refusal = list(_MANY), ""
    while counts and client.calls_left > 0:
        count = counts.pop(0)
        try:
            read = _read_many(client, count)
        except ModelError as error:
            if error.retry:
                raise
            refusal = complaint(error)
            counts = [number for number in (_parse_limit(refusal),) if number and number < count] or counts
        else:
            yield _judge_several(count, read, refusal)
            return
    yield ProbeFinding("sees many at once", "refused", refusal, value=1 if not counts else None)


def boxes(client: ProbeClient) -> Iterator[ProbeFinding]:
    probe_reply = client.ask(turn(pictures.red_rectangle(), Text(render("doctor/box.md"))))
    found = convention(probe_reply.text, pictures.BOX, pictures.BOXED_SIZE)
    if found is None:
        yield ProbeFinding(
            "box coordinates", "unclear", f"fits no convention: {quote_start(probe_reply.text)}"
        )
    else:
        yield ProbeFinding("box coordinates", "yes", found.description, value=found.name)


def protocol(client: ProbeClient) -> Iterator[ProbeFinding]:
    """A question as the code loop asks it: does the first reply contain a cell?"""
    question = Question(render("doctor/protocol.md"), (pictures.circles(),))
    before, parts = open_conversation(question, None, None, {})
    probe_reply = client.ask((*before, Message("user", parts)))
    try:
        code = find_code(probe_reply.text)
    except FormatError as error:
        yield ProbeFinding("writes <code> cells", "no", str(error))
        return
    if code is None:
        yield ProbeFinding(
            "writes <code> cells", "no", f"no cell in the reply: {quote_start(probe_reply.text)}"
        )
    else:
        yield ProbeFinding("writes <code> cells", "yes", "the first reply contains a cell")


def tools(client: ProbeClient) -> Iterator[ProbeFinding]:
    """The same question with a tool for cells; then a numeral in the result of the call, which nothing else shows."""
    offered = ToolProtocol()
    question = Question(render("doctor/protocol.md"), (pictures.circles(),))
    before, parts = open_conversation(question, None, None, {}, protocol=offered)
    messages, sampling = (*before, Message("user", parts)), Sampling(tools=offered.offers)
    try:
        reply = client.ask(messages, sampling).reply
    except ModelError as error:
        if error.kind != "tools":
            raise
        yield ProbeFinding("calls tools", "refused", complaint(error))
        yield ProbeFinding("pictures in results", "not applicable")
        return
    yield _calls(reply)
    if not reply.calls:
        yield ProbeFinding("pictures in results", "not tried", "there was no call")
    elif client.calls_left <= 0:
        yield ProbeFinding("pictures in results", "not tried", "the budget of calls is used up")
    else:
        yield _placement(client, (*messages, reply_message(reply)), sampling)


def reasoning(client: ProbeClient) -> Iterator[ProbeFinding]:
    """Whether the endpoint takes the setting in the words of the model's family."""
    family = find_family(client.config)
    if family is None:
        yield ProbeFinding("reasoning", "not applicable", "no known family; extra_body can ask for it")
        return
    settings = replace(client.config, reasoning=family.levels[0])
    client.ask(turn(Text(render("doctor/count.md", last=40))), config=settings)
    if "reasoning" in find_unsupported(settings):
        yield ProbeFinding("reasoning", "refused", f"the setting of {family.family}", "reasoning")
    else:
        yield ProbeFinding("reasoning", "yes", f"{', '.join(family.levels)} ({family.family})")


def _calls(reply: Reply) -> ProbeFinding:
    """Only a cell in the text shows that a model prefers it: an answer needs no call."""
    try:
        cell = ToolProtocol().cells(reply, {})[:1]
    except FormatError as error:
        return ProbeFinding("calls tools", "no", str(error))
    if reply.calls and cell[0].code is not None:
        return ProbeFinding("calls tools", "yes", "the first reply calls the tool with code")
    if cell:
        return ProbeFinding(
            "calls tools", "no", cell[0].fault or "the code is in the text, although tools were offered"
        )
    return ProbeFinding("calls tools", "unclear", f"no call in the reply: {quote_start(reply.text)}")


def _placement(client: ProbeClient, messages: tuple[Message, ...], sampling: Sampling) -> ProbeFinding:
    """Where later runs send the figures of a call; a refusal and a numeral that is not read mean the same."""
    numeral = pictures.numeral(*pictures.numbers(1, "result"))
    first, *others = (call.id for call in messages[-1].calls)
    ask = (numeral.picture, Text(render("doctor/numbers.md")))
    results = [Message("tool", ask if name == first else ask[1:], name) for name in (*others, first)]
    try:
        text = client.ask((*messages, *results), replace(sampling, tool_choice="none")).text
        why = "the number in it was not read"
    except ModelError as error:
        if error.retry:
            raise
        text, why = "", complaint(error)
    if numeral.numbers[0] in _numbers_in(text):
        return ProbeFinding("pictures in results", "yes", "read", value="in_result")
    return ProbeFinding("pictures in results", "no", f"{why}; they follow all results", value="after_result")


def _ask_without_refused(
    client: ProbeClient, body: dict[str, Any], names: Names
) -> tuple[ProbeReply, frozenset[str]]:
    """The first reply, and the parameters that were removed to get it. `body` ends up as it was sent."""
    messages = turn(Text(render("doctor/repeat.md", line="one </code> two")))
    refused: frozenset[str] = frozenset()
    while True:
        try:
            return client.ask(messages, Sampling(logprobs=names.logprobs), **names.place(body)), refused
        except ModelError as error:
            named = next((name for name in body if re.search(rf"\b{name}\b", str(error))), None)
            if named is None or client.calls_left <= 0:
                raise
            refused |= {named}
            value = body.pop(named)
            spare = [name for name in names.limits if name not in refused]
            if named in names.limits and spare:
                body[spare[0]] = value


def _stop(names: Names, probe_reply: ProbeReply, refused: frozenset[str]) -> ProbeFinding:
    if not names.stop:
        return ProbeFinding("stop", "not applicable", "this API has none; PyVision cuts replies")
    if names.stop in refused:
        return ProbeFinding("stop", "refused", "PyVision cuts replies", names.stop)
    if "two" in probe_reply.text:
        return ProbeFinding("stop", "no", "accepted but ignored; PyVision cuts replies")
    if "one" not in probe_reply.text:
        return ProbeFinding(
            "stop", "unclear", f"the model did not repeat the line: {quote_start(probe_reply.text)}"
        )
    suffix = ", and the stop string stays in the text" if "</code>" in probe_reply.text else ""
    return ProbeFinding("stop", "yes", f"accepted and honoured{suffix}")


def _temperature(refused: frozenset[str]) -> ProbeFinding:
    if "temperature" in refused:
        return ProbeFinding("temperature", "refused", value="temperature")
    return ProbeFinding("temperature", "yes", "accepted")


def _limit(client: ProbeClient, names: Names, refused: frozenset[str]) -> ProbeFinding:
    name = next((name for name in names.limits if name not in refused), None)
    if name is None:
        return ProbeFinding("token limit", "refused", ", ".join(names.limits))
    if client.calls_left <= 0:
        return ProbeFinding("token limit", "unclear", f"{name} is accepted", value=name)
    try:
        probe_reply = client.ask(
            turn(Text(render("doctor/count.md", last=300))), **names.place({name: _FEW_TOKENS})
        )
    except ModelError as error:
        return ProbeFinding("token limit", "yes", f"{name}: {complaint(error)}", value=name)
    if probe_reply.reply.finish == "length" or len(probe_reply.text) < 8 * _FEW_TOKENS:
        return ProbeFinding("token limit", "yes", f"{name}, honoured", value=name)
    return ProbeFinding("token limit", "no", f"{name} is accepted but ignored", value=name)


def _logprobs(names: Names, probe_reply: ProbeReply) -> ProbeFinding:
    """The model client leaves them out if the endpoint rejects them."""
    if not names.logprobs:
        return ProbeFinding("log probabilities", "not applicable", "this API has none")
    if not probe_reply.reply.logprobs:
        return ProbeFinding("log probabilities", "no", "refused, or ignored", value="logprobs")
    return ProbeFinding("log probabilities", "yes", "one for each token")


def _read_finding(subject: Subject, is_read: bool) -> ProbeFinding:  # noqa: FBT001 - the finding itself
    if is_read:
        return ProbeFinding(subject, "yes", "read")
    return ProbeFinding(subject, "no", "the number in it was not read")


def _read_many(client: ProbeClient, count: int) -> int:
    """How many images were read before the first that was not."""
    images = [pictures.numeral(number) for number in pictures.numbers(count, f"{count} pictures")]
    parts: list[Part] = [each.picture for each in images]
    read = _numbers_in(client.ask(turn(*parts, Text(render("doctor/numbers.md")))).text)
    is_read = [each.numbers[0] in read for each in images]
    return is_read.index(False) if False in is_read else count


def _parse_limit(refusal: str) -> int | None:
    """The number of images that the endpoint says it accepts."""
    named = _AT_MOST.search(refusal)
    return int(named[1] or named[2]) if named else None


def _judge_several(count: int, read: int, refusal: str) -> ProbeFinding:
    """What it means that `read` of `count` images were read; `refusal`: why more were rejected."""
    refused = f"; more are rejected: {refusal}" if refusal else ""
    if read == count:
        verdict: Verdict = "yes" if count > 1 else "no"
        limit = count if refusal else None
        return ProbeFinding("sees many at once", verdict, f"{count} in one request, all read{refused}", limit)
    if read > count // 2:
        return ProbeFinding("sees many at once", "unclear", f"{read} of {count} read without a gap{refused}")
    return ProbeFinding("sees many at once", "no", f"only {read} of {count} read{refused}", read or None)


def _numbers_in(text: str) -> set[str]:
    return set(re.findall(r"(?<!\d)\d{4}(?!\d)", text))


NAMES: Mapping[str, Names] = {
    "openai": Names("stop", ("max_tokens", "max_completion_tokens"), logprobs=True),
    "responses": Names("", ("max_output_tokens",), logprobs=True),
    "anthropic": Names("stop_sequences", ("max_tokens",), logprobs=False),
    "gemini": Names("stopSequences", ("maxOutputTokens",), logprobs=True, section="generationConfig"),
    "interactions": Names(
        "stop_sequences", ("max_output_tokens",), logprobs=False, section="generation_config"
    ),
}


PROTOCOL = Probe(("writes <code> cells",), protocol)
PROBES = (
    Probe(("reachable", "streams"), reach),
    Probe(("stop", "temperature", "token limit", "log probabilities"), parameters),
    Probe(("sees a picture", "smallest numeral"), smallest),
    Probe(("sees later pictures",), two_turns),
    Probe(("sees many at once",), several),
    Probe(("box coordinates",), boxes),
    PROTOCOL,
    Probe(("calls tools", "pictures in results"), tools),
    Probe(("reasoning",), reasoning),
)
