from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from threading import Event, Thread

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import LimitReached, ModelError
from pyvision.events import CellOutput, CellRun, ImageDefined, ModelCall, Note, ReplyRestarted, TextDelta
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Reply, Restart, Sampling, Text, Usage
from sandbox import Figure
from tests.doubles import CannedSandbox, EpisodeHarness, figure, picture, printed

HELLO = (Message("user", (Text("hello"),)),)


def ask_twice() -> Episode:
    episode = EpisodeHarness([Reply("a", Usage(10, 2)), Reply("b", Usage(20, 3))]).episode
    episode.ask("solver", HELLO)
    episode.ask("solver", HELLO)
    return episode


def test_the_usage_of_an_episode_is_that_of_all_its_replies() -> None:
    assert ask_twice().usage == Usage(30, 5)


def test_the_turns_of_an_episode_are_counted() -> None:
    episode = ask_twice()
    assert (episode.turns, episode.turns_left) == (2, 18)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(max_turns=1), "turn_limit"), (Limits(max_tokens=10), "token_limit")],
)
def test_a_spent_budget_stops_the_next_question_to_the_model(limits: Limits, reason: str) -> None:
    harness = EpisodeHarness([Reply("a", Usage(10, 2))] * 2, limits=limits)
    harness.episode.ask("solver", HELLO)
    with pytest.raises(LimitReached) as caught:
        harness.episode.ask("solver", HELLO)
    assert caught.value.end_reason == reason
    assert len(harness.model.requests) == 1


def harness_without_time() -> EpisodeHarness:
    harness = EpisodeHarness(["a"], limits=Limits(max_seconds=0.01))
    time.sleep(0.02)
    return harness


def test_spent_time_stops_a_request_to_a_model() -> None:
    harness = harness_without_time()
    with pytest.raises(LimitReached) as caught:
        harness.episode.ask("solver", HELLO)
    assert caught.value.end_reason == "time_limit"
    assert harness.model.requests == []


def test_spent_time_stops_a_cell() -> None:
    harness = harness_without_time()
    with pytest.raises(LimitReached) as caught:
        harness.episode.run("1")
    assert caught.value.end_reason == "time_limit"
    assert harness.sandbox.cells == []


def test_no_limit_is_no_limit() -> None:
    harness = EpisodeHarness([Reply("a", Usage(10**9, 0))], limits=Limits(max_tokens=None, max_seconds=None))
    harness.episode.ask("solver", HELLO)
    assert harness.episode.last_call() is None


def test_a_role_without_a_model_of_its_own_is_played_by_the_default() -> None:
    critic, other = Scripted(["fine"], name="critic"), Scripted(["well"], name="other")
    events: list[object] = []
    harness = EpisodeHarness([])
    models = {"critic": critic, "default": other}
    episode = Episode(harness.question, models, Limits(), CannedSandbox(), events.append)
    assert episode.ask("critic", HELLO).text == "fine"
    assert episode.ask("coder", HELLO).text == "well"
    assert [event.model for event in events if isinstance(event, ModelCall)] == ["critic", "other"]


def test_no_kernel_starts_before_the_first_cell() -> None:
    assert EpisodeHarness([]).sandbox.opened == 0


def test_all_cells_of_an_episode_run_in_one_kernel() -> None:
    harness = EpisodeHarness([])
    harness.episode.run("1")
    harness.episode.run("2")
    assert harness.sandbox.opened == 1


def test_the_kernel_is_closed_with_the_episode() -> None:
    harness = EpisodeHarness([])
    harness.episode.run("1")
    harness.episode.close()
    assert harness.sandbox.closed == 1


def test_images_are_recorded_as_they_were_sent() -> None:
    harness = EpisodeHarness(["ok"])
    harness.episode.ask("solver", (Message("user", (picture(5000, 100),)),))
    (event,) = (event for event in harness.events if isinstance(event, ModelCall))
    assert event.messages == harness.model.requests[0]


def test_each_image_is_recorded_with_the_pixels_that_were_sent() -> None:
    harness = EpisodeHarness(["ok"])
    harness.episode.ask("solver", (Message("user", (picture(4096, 1024),)),))
    (event,) = (event for event in harness.events if isinstance(event, ModelCall))
    (sent,) = event.sent
    assert (sent.width, sent.height, sent.scale_x, sent.scale_y) == (2048, 512, 0.5, 0.5)


def test_a_defined_figure_is_in_the_kernel_under_the_next_name() -> None:
    harness = EpisodeHarness([])
    ((name, displayed),) = harness.episode.define_images([figure()])
    assert name == "image_clue_1"
    assert harness.sandbox.images[name] == displayed.data


INVALID_THEN_VALID = [Figure(b"junk", "image/png", 3, 3), figure()]


def test_an_invalid_figure_takes_no_number() -> None:
    named = EpisodeHarness([]).episode.define_images(INVALID_THEN_VALID)
    assert [name for name, _ in named] == ["image_clue_1"]


def test_the_former_name_of_define_images_warns() -> None:
    with pytest.warns(DeprecationWarning, match=r"Episode\.define is now Episode\.define_images"):
        assert EpisodeHarness([]).episode.define([figure()])


def test_an_invalid_figure_is_noted() -> None:
    harness = EpisodeHarness([])
    harness.episode.define_images(INVALID_THEN_VALID)
    assert [type(event) for event in harness.events] == [Note, ImageDefined]


def test_a_failing_endpoint_is_the_callers_to_handle() -> None:
    with pytest.raises(ModelError):
        EpisodeHarness([]).episode.ask("solver", HELLO)


class Talker(Scripted):
    """Says these pieces, then the whole reply; keeps whether its stream was closed."""

    def __init__(self, *pieces: str | Restart) -> None:
        super().__init__([])
        self.pieces = pieces
        self.closed = False

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        try:
            yield from self.pieces
            yield Reply("whole")
        finally:
            self.closed = True


def test_a_reply_is_streamed_in_pieces() -> None:
    harness = EpisodeHarness([], model=Talker("who", Restart(), "whole"))
    assert harness.episode.ask("solver", HELLO).text == "whole"
    assert harness.passing == [
        TextDelta("solver", "who"),
        ReplyRestarted("solver"),
        TextDelta("solver", "whole"),
    ]


def test_a_failed_call_is_reported_with_the_time_of_the_next() -> None:
    harness = EpisodeHarness([], model=Talker(Restart("503 from a.b", 3, 8.0), "whole"))
    harness.episode.ask("solver", HELLO)
    assert harness.passing[0] == ReplyRestarted("solver", "503 from a.b", 3, 8.0)


def test_an_episode_that_is_stopped_says_what_it_was_waiting_for() -> None:
    harness = EpisodeHarness([], model=Talker(Restart("503 from a.b", 3, 8.0), "whole"))
    harness.on_piece = harness.cancellation.cancel
    with pytest.raises(LimitReached):
        harness.episode.ask("solver", HELLO)
    waiting = "scripted (503 from a.b, attempt 3, next in 8 s)"
    assert harness.episode.interruption == f"stopped while waiting for {waiting}"


def test_an_episode_that_waits_for_nothing_is_only_stopped() -> None:
    assert EpisodeHarness([]).episode.interruption == "stopped"


INTERRUPTED = """
import os, signal
from pyvision.types import Question
from sandbox import Sandbox
from tests.doubles import EpisodeHarness

harness = EpisodeHarness([], question=Question("?"))
with Sandbox() as sandbox:
    harness.episode._kernel.sandbox = sandbox
    code = "print('put out', flush=True)\\nhost.ready()\\nimport time\\ntime.sleep(60)"
    try:
        harness.episode.run(code, functions={"ready": lambda: os.kill(os.getpid(), signal.SIGINT)})
    except KeyboardInterrupt:
        (ran,) = harness.events
        print(ran.result.text.strip(), ran.result.error.name, harness.episode.interruption, sep=" | ")
    harness.episode.close()
"""


def test_what_a_cell_has_put_out_is_recorded_when_ctrl_c_ends_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False
    )
    if "IsolationError" in done.stderr:
        pytest.skip("cells cannot run here")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "put out | KeyboardInterrupt | stopped while waiting for a cell\n"


def run_with_live_output() -> EpisodeHarness:
    harness = EpisodeHarness([], [printed("first\nsecond\n")])
    harness.sandbox.live = ("first\n", "second\n")
    harness.episode.run("look()")
    return harness


def test_the_output_of_a_cell_is_streamed() -> None:
    assert run_with_live_output().passing == [CellOutput("first\n"), CellOutput("second\n")]


def test_the_output_of_a_cell_is_recorded_once() -> None:
    assert [type(event) for event in run_with_live_output().events] == [CellRun]


def test_a_reply_is_closed_when_the_caller_stops_in_the_middle_of_it() -> None:
    talker = Talker("a", "b")
    harness = EpisodeHarness([], model=talker)
    harness.on_piece = harness.cancellation.cancel
    with pytest.raises(LimitReached) as caught:
        harness.episode.ask("solver", HELLO)
    assert caught.value.end_reason == "interrupted"
    assert (talker.closed, len(harness.passing)) == (True, 1)


def test_a_reply_that_takes_longer_than_the_question_may_is_interrupted() -> None:
    harness = EpisodeHarness([], model=Talker("a", "b"), limits=Limits(max_seconds=0.2))
    harness.on_piece = lambda: time.sleep(0.3)
    with pytest.raises(LimitReached) as caught:
        harness.episode.ask("solver", HELLO)
    assert caught.value.end_reason == "time_limit"


def test_a_model_gets_the_time_that_is_left() -> None:
    harness = EpisodeHarness(["a"], limits=Limits(max_seconds=60))
    harness.episode.ask("solver", HELLO)
    (sampling,) = harness.model.samplings
    assert 0 < (sampling.seconds or 0) <= 60


def too_long() -> ModelError:
    return ModelError("the conversation is too long for the model", kind="context")


TAGGED = (
    Message("user", (Text("<image_clue_0>\n"), picture(), Text("\n</image_clue_0>\n"))),
    Message("user", (Text("<image_clue_1>\n"), picture(41), Text("\n</image_clue_1>\n"))),
    Message("user", (Text("go on"),)),
)


def test_a_conversation_too_long_for_the_model_is_sent_once_more_without_old_figures() -> None:
    harness = EpisodeHarness([too_long(), "well"])
    assert harness.episode.ask("solver", TAGGED).text == "well"
    (event,) = (event for event in harness.events if isinstance(event, ModelCall))
    assert [sent.name for sent in event.sent] == ["image_clue_0"]
    assert "image_clue_1" in harness.model.requests[1][1].text


def test_a_conversation_that_is_still_too_long_ends_as_context_overflow() -> None:
    with pytest.raises(LimitReached, match="too long") as caught:
        EpisodeHarness([too_long(), too_long()]).episode.ask("solver", TAGGED)
    assert caught.value.end_reason == "context_overflow"


def test_the_image_limit_in_an_error_of_the_server_is_respected() -> None:
    refusal = ModelError("the request was refused (400): At most 1 image(s) may be provided in one prompt.")
    harness = EpisodeHarness([refusal, "well", "well"])
    for _ in range(2):
        assert harness.episode.ask("solver", TAGGED).text == "well"
    assert len(harness.model.requests) == 3


def test_what_is_left_out_is_noted() -> None:
    harness = EpisodeHarness(["well"], accepts=EndpointLimits(pictures=1))
    harness.episode.ask("solver", TAGGED)
    (noted,) = (event for event in harness.events if isinstance(event, Note))
    assert (noted.label, noted.data) == ("left_out", {"role": "solver", "pictures": ["image_clue_1"]})


@pytest.mark.parametrize(
    ("limits", "reason"), [(Limits(max_pictures=1), "picture_limit"), (Limits(max_bytes=300), "byte_limit")]
)
def test_a_request_that_would_overshoot_a_budget_is_not_sent(limits: Limits, reason: str) -> None:
    harness = EpisodeHarness(["a"], limits=limits)
    with pytest.raises(LimitReached) as caught:
        harness.episode.ask("solver", TAGGED)
    assert caught.value.end_reason == reason
    assert harness.model.requests == []


def test_a_cancelled_episode_asks_no_model() -> None:
    harness = EpisodeHarness(["a"])
    harness.cancellation.cancel()
    with pytest.raises(LimitReached, match="stopped") as caught:
        harness.episode.ask("solver", HELLO)
    assert caught.value.end_reason == "interrupted"


def test_a_cancelled_episode_runs_no_cell() -> None:
    harness = EpisodeHarness(["a"])
    harness.cancellation.cancel()
    with pytest.raises(LimitReached):
        harness.episode.run("1")
    assert harness.sandbox.cells == []


def test_a_cancellation_closes_the_kernel_of_the_cell_that_runs() -> None:
    harness = EpisodeHarness(["a"])
    harness.sandbox.on_run = harness.cancellation.cancel
    harness.episode.run("1")
    assert harness.sandbox.closed == 1


class Silent(Talker):
    """Waits for ever before its first word, unless it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = Event(), Event()

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        self.asked.set()
        self.go.wait(60)
        yield from super().stream(messages, sampling)


def test_a_cancellation_ends_a_request_that_no_model_answers() -> None:
    model = Silent()
    harness = EpisodeHarness([], model=model)

    def cancel_once_asked() -> None:
        assert model.asked.wait(60)
        harness.cancellation.cancel()

    canceller = Thread(target=cancel_once_asked)
    canceller.start()
    with pytest.raises(LimitReached, match="stopped"):
        harness.episode.ask("solver", HELLO)
    canceller.join()
    assert not model.go.is_set()
    model.go.set()
