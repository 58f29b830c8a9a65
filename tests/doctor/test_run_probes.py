"""Each capability taken away from the model server is found out, and a clean one raises no false alarm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

from pyvision.config.endpoints import Profile
from pyvision.config.model_config import ModelConfig
from pyvision.doctor import ProbeReport, run_probes
from pyvision.doctor.probe_client import ProbeFinding
from pyvision.doctor.probes import PROBES
from pyvision.doctor.run_probes import CALLS
from tests.servers.capabilities import Capabilities
from tests.servers.eyes import Sighted
from tests.servers.faults import Plan, Weather, fair
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

KEY = "sk-very-secret-0123456789"
LOGPROBS = frozenset({"logprobs", "message.output_text.logprobs", "responseLogprobs"})
FINE = {"yes", "not applicable"}
ISOLATED = (ProbeFinding("isolation", "yes"),)
EVERY_WIRE = pytest.mark.parametrize("wire", list(WIRES))


def examined(
    wire: str, can: Capabilities, weather: Weather = fair, timeout_s: float = 60.0, **settings: Any
) -> ProbeReport:
    with ModelServer(Sighted(can), can=can, weather=weather) as server:
        config = configured(wire, server, api_key=KEY, timeout_s=timeout_s, retry_s=0.01, **settings)
        found = run_probes(config, lambda subject: None, machine=lambda: ISOLATED)
        assert len(server.requests) <= CALLS
    assert KEY not in str(asdict(found))
    return found


def verdicts(found: ProbeReport) -> Mapping[str, str]:
    return {finding.subject: finding.verdict for finding in found.endpoint}


def profile(found: ProbeReport) -> Profile:
    assert found.profile is not None
    return found.profile


@EVERY_WIRE
def test_a_clean_server_raises_no_false_alarm(wire: str) -> None:
    found = examined(wire, Capabilities())
    absent = {(wire, subject) for subject, verdict in verdicts(found).items() if verdict == "not applicable"}
    assert absent == {pair for pair in HAS_NONE if pair[0] == wire}
    assert set(verdicts(found).values()) <= FINE
    assert list(verdicts(found)) == [subject for probe in PROBES for subject in probe.subjects]
    known = profile(found)
    assert (known.refused, known.stream, known.pictures, known.boxes) == ((), True, None, "pixels")
    assert known.legible_px is not None
    assert not found.endpoint_failed


OF_THE_WIRE: Mapping[str, tuple[Capabilities, str]] = {
    "does not stream": (Capabilities(streams=False), "streams"),
    "ignores stop": (Capabilities(honours_stop=False), "stop"),
    "refuses stop": (Capabilities(refuses=frozenset({"stop", "stop_sequences", "stopSequences"})), "stop"),
    "refuses temperature": (Capabilities(refuses=frozenset({"temperature"})), "temperature"),
    "ignores the token limit": (Capabilities(honours_limit=False), "token limit"),
    "gives no logprobs": (Capabilities(gives_logprobs=False), "log probabilities"),
    "refuses logprobs": (Capabilities(refuses=LOGPROBS), "log probabilities"),
    "is blind in later turns": (Capabilities(sees_later_turns=False), "sees later pictures"),
}
OF_THE_MODEL: Mapping[str, tuple[Capabilities, str]] = {
    "sees nothing": (Capabilities(sees="none"), "sees a picture"),
    "sees the first picture only": (Capabilities(sees="the first"), "sees many at once"),
    "writes no code": (Capabilities(writes_code=False), "writes <code> cells"),
}


HAS_NONE = {("responses", "stop"), ("messages", "log probabilities"), ("interactions", "log probabilities")}
HAS_NONE |= {(wire, "reasoning") for wire in WIRES}  # the model "m" is of no known family
LACKING = [  # each fault on one wire in the quick tests, on every wire in the slow ones
    pytest.param(wire, fault, marks=() if position == number % 2 else pytest.mark.slow)
    for number, (fault, (_, subject)) in enumerate(OF_THE_WIRE.items())
    for position, wire in enumerate(wire for wire in WIRES if (wire, subject) not in HAS_NONE)
]


@pytest.mark.parametrize(("wire", "fault"), LACKING)
def test_what_an_endpoint_lacks_is_found_out(wire: str, fault: str) -> None:
    can, subject = OF_THE_WIRE[fault]
    assert verdicts(examined(wire, can))[subject] in ("refused", "no")


@pytest.mark.parametrize("fault", OF_THE_MODEL)
def test_what_a_model_lacks_is_found_out(fault: str) -> None:
    can, subject = OF_THE_MODEL[fault]
    assert verdicts(examined("completions", can))[subject] == "no"


@EVERY_WIRE
def test_what_is_refused_is_in_the_profile_by_the_name_of_the_wire(wire: str) -> None:
    refuses = LOGPROBS | {"stop", "stop_sequences", "stopSequences", "temperature"}
    known = profile(examined(wire, Capabilities(refuses=refuses)))
    assert "temperature" in known.refused
    assert known.honours_stop in (False, None)


@EVERY_WIRE
def test_tools_are_in_the_profile_of_an_endpoint_that_takes_them(wire: str) -> None:
    known = profile(examined(wire, Capabilities()))
    assert (known.calls_tools, known.image_placement) == (True, "in_result")


@EVERY_WIRE
def test_tools_that_are_refused_are_in_the_profile(wire: str) -> None:
    found = examined(wire, Capabilities(refuses=frozenset({"tools"})))
    assert verdicts(found)["calls tools"] == "refused"
    assert (profile(found).calls_tools, profile(found).image_placement) == (False, None)


def test_a_model_that_ignores_offered_tools_is_offered_none() -> None:
    found = examined("completions", Capabilities(calls_tools=False))
    assert verdicts(found)["calls tools"] == "no"
    assert profile(found).calls_tools is False


def test_a_model_that_answers_without_a_call_is_left_to_what_is_known_of_its_family() -> None:
    found = examined("completions", Capabilities(writes_code=False))
    assert verdicts(found)["calls tools"] == "unclear"
    assert profile(found).calls_tools is None


@EVERY_WIRE
@pytest.mark.parametrize("in_results", ["ignored", "refused"])
def test_pictures_go_after_the_results_where_they_are_not_seen_in_them(wire: str, in_results: Any) -> None:
    known = profile(examined(wire, Capabilities(in_results=in_results)))
    assert (known.calls_tools, known.image_placement) == (True, "after_result")


REASONING = {"completions": "gpt-6.2-sol", "responses": "gpt-6.2-sol", "messages": "claude-sonnet-5-5"}
REASONING |= {"gemini": "gemini-3.6-flash", "interactions": "gemini-3.6-flash"}
FIELDS = frozenset({"reasoning_effort", "reasoning", "thinking", "thinkingConfig", "thinking_level"})


@EVERY_WIRE
def test_a_reasoning_setting_that_is_taken_is_found(wire: str) -> None:
    found = examined(wire, Capabilities(), model=REASONING[wire])
    assert verdicts(found)["reasoning"] == "yes"
    assert "reasoning" not in profile(found).refused


@EVERY_WIRE
def test_a_reasoning_setting_that_is_refused_is_in_the_profile(wire: str) -> None:
    found = examined(wire, Capabilities(refuses=FIELDS), model=f"{REASONING[wire]}-x")
    assert verdicts(found)["reasoning"] == "refused"
    assert "reasoning" in profile(found).refused


def test_the_newer_name_of_the_token_limit_is_tried_where_the_older_is_refused() -> None:
    found = examined("completions", Capabilities(refuses=frozenset({"max_tokens"})))
    (limit,) = (finding for finding in found.endpoint if finding.subject == "token limit")
    assert (limit.verdict, limit.value) == ("yes", "max_completion_tokens")


@EVERY_WIRE
def test_a_limit_on_pictures_is_found_to_the_picture(wire: str) -> None:
    assert profile(examined(wire, Capabilities(pictures=5))).pictures == 5


def test_pixels_that_an_endpoint_takes_away_show_in_the_smallest_numeral() -> None:
    sharp, reduced, poor = (
        profile(examined("completions", Capabilities(side_px=side))) for side in (None, 900, 400)
    )
    assert sharp.legible_px is not None
    assert reduced.legible_px is not None
    assert poor.legible_px is not None
    assert sharp.legible_px < reduced.legible_px < poor.legible_px


@pytest.mark.parametrize(("boxes", "name"), [("pixels", "pixels"), ("unit", "0-1"), ("thousand", "0-1000")])
def test_the_convention_of_boxes_is_found_out(boxes: Any, name: str) -> None:
    assert profile(examined("completions", Capabilities(boxes=boxes))).boxes == name


FATAL = [(wire, "401") for wire in WIRES]
FATAL += [
    ("completions", fault) for fault in ("model not found", "500", "200 html", "reset", "slow first byte")
]


@pytest.mark.parametrize(("wire", "fault"), FATAL)
def test_an_endpoint_that_fails_is_asked_nothing_more(wire: str, fault: str) -> None:
    found = examined(wire, Capabilities(), Plan([], after=fault), timeout_s=2.0)
    assert found.endpoint_failed
    assert found.profile is None
    assert set(verdicts(found).values()) == {"no", "not tried"}
    assert found.calls == 1


def test_an_endpoint_that_is_not_there_is_one_finding() -> None:
    config = ModelConfig("openai", model="m", base_url="http://127.0.0.1:9/v1")
    assert run_probes(config, lambda subject: None, machine=lambda: ISOLATED).endpoint_failed


def test_a_fault_in_the_middle_spoils_its_own_line_only() -> None:
    found = examined("completions", Capabilities(), Plan([None, None, None, "500"]))
    assert verdicts(found)["sees a picture"] == "unclear"
    assert [subject for subject, verdict in verdicts(found).items() if verdict not in FINE] == [
        "sees a picture",
        "smallest numeral",
    ]


def test_no_more_is_asked_than_was_allowed() -> None:
    with ModelServer(Sighted()) as server:
        found = run_probes(
            configured("completions", server), lambda subject: None, machine=lambda: ISOLATED, calls=4
        )
        assert len(server.requests) == 4
    assert verdicts(found)["writes <code> cells"] == "not tried"


def test_the_offline_model_is_asked_what_applies_to_it() -> None:
    found = run_probes(ModelConfig("offline"), lambda subject: None, machine=lambda: ISOLATED)
    assert verdicts(found)["writes <code> cells"] == "yes"
    assert set(verdicts(found).values()) == {"yes", "not applicable"}
    assert not found.endpoint_failed


def test_every_table_keeps_within_80_columns() -> None:
    for can in (Capabilities(), Capabilities(pictures=5, sees="none"), Capabilities(keys=frozenset())):
        assert max(len(line) for line in examined("completions", can).table.splitlines()) <= 80
