"""Retrying on a clock that only moves when somebody sleeps; recording and playing back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, ModelError
from pyvision.models.recording import RecordingModel, ReplayModel, request_key
from pyvision.models.retry import RetryingModel
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Reply, Restart, Sampling, Text, TokenLogprob, Usage
from tests.doubles import picture

HELLO = (Message("user", (Text("hello"), picture())),)
BUSY = ModelError("busy", retry=True)


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def retried(model: Scripted, clock: Clock, budget_s: float = 600.0, jitter: float = 1.0) -> RetryingModel:
    return RetryingModel(model, budget_s, clock=lambda: clock.now, sleep=clock.sleep, jitter=lambda: jitter)


def test_failures_worth_it_are_repeated_with_growing_waits() -> None:
    clock, model = Clock(), Scripted([BUSY, BUSY, BUSY, "hi"])
    assert retried(model, clock).complete(HELLO, Sampling()).text == "hi"
    assert clock.sleeps == [1.0, 2.0, 4.0]
    assert model.requests == [HELLO] * 4


def test_up_to_half_of_each_wait_is_chance() -> None:
    clock = Clock()
    retried(Scripted([BUSY, BUSY, "hi"]), clock, jitter=0.0).complete(HELLO, Sampling())
    assert clock.sleeps == [0.5, 1.0]


def test_a_wait_never_grows_past_a_minute() -> None:
    clock = Clock()
    retried(Scripted([*[BUSY] * 9, "hi"]), clock).complete(HELLO, Sampling())
    assert max(clock.sleeps) == 60.0


def test_a_failure_that_will_not_go_away_is_raised_at_once() -> None:
    clock, model = Clock(), Scripted([ModelError("the key was refused"), "hi"])
    with pytest.raises(ModelError, match="refused"):
        retried(model, clock).complete(HELLO, Sampling())
    assert (len(model.requests), clock.sleeps) == (1, [])


def test_the_endpoints_own_wish_is_honoured() -> None:
    clock = Clock()
    wish = ModelError("busy", retry=True, retry_after_s=17.0)
    retried(Scripted([wish, "hi"]), clock, jitter=0.0).complete(HELLO, Sampling())
    assert clock.sleeps == [17.0]


def test_a_wish_longer_than_the_budget_ends_it_at_once() -> None:
    clock = Clock()
    wish = ModelError("busy", retry=True, retry_after_s=3600.0)
    with pytest.raises(ModelError) as caught:
        retried(Scripted([wish, "hi"]), clock).complete(HELLO, Sampling())
    assert (clock.sleeps, caught.value.retry, caught.value.retry_after_s) == ([], True, 3600.0)


def test_the_error_after_a_spent_budget_counts_the_attempts() -> None:
    clock = Clock()
    with pytest.raises(ModelError, match=r"busy \(gave up after 4 attempts in 7 s\)"):
        retried(Scripted([BUSY] * 99), clock, budget_s=10.0).complete(HELLO, Sampling())


def test_the_time_left_to_the_run_is_a_budget_too() -> None:
    with pytest.raises(ModelError, match="gave up after 3 attempts in 3 s"):
        retried(Scripted([BUSY] * 9), Clock()).complete(HELLO, Sampling(seconds=5.0))


def test_each_attempt_gets_the_time_that_is_left() -> None:
    model = Scripted([BUSY] * 9)
    with pytest.raises(ModelError):
        retried(model, Clock()).complete(HELLO, Sampling(seconds=5.0))
    assert [sampling.seconds for sampling in model.samplings] == [5.0, 4.0, 2.0]


def test_the_kind_of_the_last_failure_is_kept() -> None:
    wish = ModelError("busy", retry=True, retry_after_s=3600.0, kind="rate")
    with pytest.raises(ModelError) as caught:
        retried(Scripted([wish]), Clock()).complete(HELLO, Sampling())
    assert caught.value.kind == "rate"


class Broken:
    """A model whose first streams break off in the middle."""

    name = "broken"

    def __init__(self, breaks: int) -> None:
        self.breaks = breaks

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        raise NotImplementedError

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        yield "one "
        self.breaks -= 1
        if self.breaks >= 0:
            raise BUSY
        yield "two"
        yield Reply("one two")


def test_an_interrupted_stream_restarts() -> None:
    clock = Clock()
    model = RetryingModel(Broken(2), clock=lambda: clock.now, sleep=clock.sleep, jitter=lambda: 1.0)
    pieces = list(model.stream(HELLO, Sampling()))
    first, second = Restart(str(BUSY), 2, 1.0), Restart(str(BUSY), 3, 2.0)
    assert pieces == ["one ", first, "", "one ", second, "", "one ", "two", Reply("one two")]
    assert clock.sleeps == [1.0, 2.0]


def test_a_restart_says_what_failed_before_the_wait_for_the_next_call() -> None:
    clock = Clock()
    unavailable = ModelError("m at https://a.b/v1: failed (503)", retry=True, brief="503 from a.b")
    pieces = retried(Scripted([unavailable, "hi"]), clock).stream(HELLO, Sampling())
    assert next(pieces) == Restart("503 from a.b", 2, 1.0)
    assert clock.sleeps == []
    assert list(pieces) == ["", "hi", Reply("hi")]
    assert clock.sleeps == [1.0]


def test_a_stream_that_is_closed_during_the_wait_makes_no_other_call() -> None:
    clock, model = Clock(), Scripted([BUSY, "hi"])
    pieces = retried(model, clock).stream(HELLO, Sampling())
    next(pieces)
    assert (next(pieces), clock.sleeps) == ("", [1.0])
    del pieces
    assert len(model.requests) == 1


def test_a_stream_that_fails_for_good_raises() -> None:
    pieces = retried(Scripted([ModelError("the key was refused")]), Clock()).stream(HELLO, Sampling())
    with pytest.raises(ModelError, match="refused"):
        next(pieces)


def test_other_exceptions_pass_through() -> None:
    with pytest.raises(KeyError):
        retried(Scripted([KeyError("bug")]), Clock()).complete(HELLO, Sampling())


def test_recorded_replies_are_replayed(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    replies = [Reply("ein\u2028s 三", Usage(3, 4), "stop"), Reply("zwei")]
    recorded = RecordingModel(Scripted(replies, name="m"), file)
    again = (*HELLO, Message("user", (Text("again"),)))
    for messages in (HELLO, again):
        recorded.complete(messages, Sampling())
    replayed = ReplayModel(file)
    assert [replayed.complete(messages, Sampling()) for messages in (again, HELLO)] == replies[::-1]
    assert recorded.name == "m"


TOKEN = TokenLogprob("hi", -0.5, (("hi", -0.5), ("ho", -2.0)))
FULL_REPLY = Reply("hi", Usage(1, 2, 1), "end", "hm", (TOKEN,))


def test_a_recording_passes_the_stream_on_as_it_is(tmp_path: Path) -> None:
    recorded = RecordingModel(Scripted([FULL_REPLY]), tmp_path / "replies.jsonl")
    assert list(recorded.stream(HELLO, Sampling(logprobs=True))) == ["hi", FULL_REPLY]


def test_a_recorded_reply_is_replayed_with_all_its_fields(tmp_path: Path) -> None:
    file, sampling = tmp_path / "replies.jsonl", Sampling(logprobs=True)
    list(RecordingModel(Scripted([FULL_REPLY]), file).stream(HELLO, sampling))
    assert list(ReplayModel(file).stream(HELLO, sampling)) == ["hi", FULL_REPLY]


def test_a_record_from_before_there_was_reasoning_is_still_played(tmp_path: Path) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    entry = {"key": request_key(HELLO, Sampling()), "reply": {"text": "hi", "usage": usage, "finish": "end"}}
    (tmp_path / "talk.jsonl").write_text(json.dumps(entry))
    assert ReplayModel(tmp_path / "talk.jsonl").complete(HELLO, Sampling()) == Reply("hi", Usage(1, 2))


def test_the_time_that_a_reply_may_take_is_no_part_of_its_key() -> None:
    assert request_key(HELLO, Sampling(seconds=1.0)) == request_key(HELLO, Sampling())


def test_a_request_recorded_twice_gets_its_replies_in_turn(tmp_path: Path) -> None:
    recorded = RecordingModel(Scripted(["one", "two"]), tmp_path / "talk.jsonl")
    for _ in range(2):
        recorded.complete(HELLO, Sampling())
    replayed = ReplayModel(tmp_path / "talk.jsonl")
    assert [replayed.complete(HELLO, Sampling()).text for _ in range(3)] == ["one", "two", "two"]


def test_a_record_holds_no_image(tmp_path: Path) -> None:
    RecordingModel(Scripted(["one"]), tmp_path / "talk.jsonl").complete(HELLO, Sampling())
    (line,) = (tmp_path / "talk.jsonl").read_text().splitlines()
    assert json.loads(line).keys() == {"key", "reply"}


def test_an_unknown_request_is_a_model_error_that_names_its_key(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text("")
    with pytest.raises(ModelError, match=request_key(HELLO, Sampling())[:12]):
        ReplayModel(tmp_path / "talk.jsonl").complete(HELLO, Sampling())


@pytest.mark.parametrize("content", ["not json\n", '{"key": "a"}\n', '{"key": "a", "reply": 3}\n', "[]\n"])
def test_a_file_that_is_not_a_record_is_refused_with_its_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "talk.jsonl").write_text(content)
    with pytest.raises(ConfigError, match="line 1 is not a recorded reply"):
        ReplayModel(tmp_path / "talk.jsonl").complete(HELLO, Sampling())


def test_a_missing_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        ReplayModel(tmp_path / "none.jsonl").complete(HELLO, Sampling())


def test_every_part_of_a_request_is_part_of_its_key() -> None:
    conversations = [
        (HELLO, Sampling()),
        (HELLO, Sampling(temperature=0.5)),
        (HELLO, Sampling(logprobs=True)),
        ((Message("assistant", HELLO[0].parts),), Sampling()),
        ((Message("user", (Text("hallo"), picture())),), Sampling()),
        ((Message("user", (Text("hello"), picture(colour="red"))),), Sampling()),
        ((Message("user", (picture(), Text("hello"))),), Sampling()),
    ]
    assert len({request_key(*messages) for messages in conversations}) == len(conversations)
