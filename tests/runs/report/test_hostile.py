"""Whatever a person, a model or a cell wrote is text in the page: no element, no attribute, no address of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, RunEnded, RunStarted, Sent
from pyvision.runs.report import report
from pyvision.text.sanitize import printable
from pyvision.types import Message, Outcome, Question, Reply, Text, Usage
from sandbox import CellError, CellResult, Figure, Omitted, Stream
from tests.pages.parsed import Page
from tests.payloads import PAYLOADS
from tests.runs.runs import figure, noise, picture, recorded


def events(text: str) -> Iterator[Event]:
    """A run with the text in every place that somebody else can write."""
    original, cut = picture(noise()), noise().crop((10, 20, 50, 50))
    messages = (Message("system", (Text(text),)), Message("user", (Text(text), original)))
    error = CellError(text, text, 1, f"Traceback {text}")
    outputs = (
        Stream("stdout", text),
        Stream("stderr", text),
        Stream("result", text),
        Omitted(text),
        figure(cut),
    )
    yield RunStarted(Question(text, (original,)), text, {text: text})
    yield ModelCall(
        text, text, messages, Reply(text, Usage(1, 1), "end", text), 1.0, (Sent(text, text, 1, 1),)
    )
    yield Note("malformed", {text: text, "list": [text]})
    yield ModelCall(
        "solver",
        text,
        messages,
        Reply(f"I look.\n<code>\n```python\nx = {text!a}\n```\n", finish="length"),
        1.0,
    )
    yield CellRun(f"# {text}\nx = {text!a}", CellResult("error", outputs, error, 1.0, "lost", None, text))
    yield ImageDefined(text, picture(cut))
    yield CellRun("show()", CellResult("ok", (Figure(text.encode(), "image/png", 3, 3),)))
    yield Note(text, {})
    yield RunEnded(Outcome(text, "answered", text), Usage(2, 2), 2, 2, 3.0)


def page(folder: Path, text: str) -> Page:
    return Page(report(recorded(folder, list(events(text)))))


def structure(parsed: Page) -> Counter[tuple[str, tuple[str, ...]]]:
    """Every element with the names of its attributes, but for the parts of coloured code."""
    return Counter((name, tuple(attributes)) for name, attributes in parsed.elements if name != "span")


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page(tmp_path_factory.mktemp("harmless"), "x")


def test_there_are_many_payloads() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 40


@pytest.fixture(scope="module", params=PAYLOADS, ids=range(len(PAYLOADS)))
def hostile(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[str, Page]:
    """A payload, and the page of a run that has it in every place."""
    return request.param, page(tmp_path_factory.mktemp("hostile"), request.param)


def test_a_payload_is_shown_as_text(hostile: tuple[str, Page]) -> None:
    payload, parsed = hostile
    assert printable(payload) in parsed.text


def test_a_payload_adds_no_element(harmless: Page, hostile: tuple[str, Page]) -> None:
    _, parsed = hostile
    assert structure(parsed) == structure(harmless)
    assert parsed.open == []


def test_a_payload_adds_no_attribute_to_coloured_code(hostile: tuple[str, Page]) -> None:
    _, parsed = hostile
    assert all(set(attributes) <= {"class"} for attributes in parsed.named("span"))


def test_a_payload_leads_to_no_other_address(hostile: tuple[str, Page]) -> None:
    _, parsed = hostile
    for _, attributes in parsed.elements:
        assert all(
            str(attributes.get(name, "#")).startswith(("#", "data:image/")) for name in ("src", "href")
        )
