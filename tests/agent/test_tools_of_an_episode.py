"""What a strategy may do with tools: use them, have them recorded, within a budget of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, ImageError, LimitReached, ToolError
from pyvision.events import CellRun, Event, ModelCall, ToolRun
from pyvision.models.cancellation import Cancellation
from pyvision.models.scripted import Scripted
from pyvision.types import Ask, Message, Observation, Question, Text, ToolRequest
from sandbox import CellResult, HostFunction
from tests.doubles import CannedSandbox

HELLO = (Message("user", (Text("hello"),)),)


class Echo:
    """A tool that gives back what it is asked, or what `says` makes of it."""

    name, purpose = "echo", "says it again"

    def __init__(self, says: Callable[[ToolRequest, Ask], Observation] | None = None) -> None:
        self._says = says

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        return self._says(request, ask) if self._says else Observation(request.text)


def broken(request: ToolRequest, ask: Ask) -> Observation:
    raise ToolError("the service is down")


def cell(request: ToolRequest, ask: Ask) -> Observation:
    return Observation(ask("vqa", HELLO).text)


def an_episode(tool: Echo, replies: int = 3, limits: Limits | None = None) -> tuple[Episode, list[Event]]:
    events: list[Event] = []
    model = Scripted([f"reply {number}" for number in range(replies)])
    sandbox = CannedSandbox([CellResult("ok")])
    tools = {"echo": tool}
    return (
        Episode(Question("?"), {"default": model}, limits or Limits(), sandbox, events.append, tools=tools),
        events,
    )


def test_a_tool_gives_its_observation_to_the_caller() -> None:
    episode, _ = an_episode(Echo())
    assert episode.call_tool("echo", ToolRequest("hi")) == Observation("hi")


def test_the_former_name_of_call_tool_warns() -> None:
    episode, _ = an_episode(Echo())
    with pytest.warns(DeprecationWarning, match=r"Episode\.use is now Episode\.call_tool"):
        assert episode.use("echo", ToolRequest("hi")) == Observation("hi")


def test_a_call_of_a_tool_is_recorded_as_an_event() -> None:
    episode, events = an_episode(Echo())
    request = ToolRequest("hi")
    episode.call_tool("echo", request)
    (used,) = events
    assert isinstance(used, ToolRun)
    assert (used.tool, used.request, used.observation) == ("echo", request, Observation("hi"))


def test_what_a_tool_cannot_do_is_data() -> None:
    episode, events = an_episode(Echo(broken))
    assert episode.call_tool("echo", ToolRequest()).error == "the service is down"
    assert isinstance(events[-1], ToolRun)


def test_a_tool_that_is_not_set_up_is_a_configuration_error() -> None:
    episode, _ = an_episode(Echo())
    with pytest.raises(ConfigError, match="no tool 'find' is set up; available tools: echo"):
        episode.call_tool("find", ToolRequest())


def use_a_tool_with_a_model() -> tuple[Episode, list[Event], Observation]:
    """An episode after its only turn, and a call of a tool that asks a model; with what the tool observed."""
    episode, events = an_episode(Echo(cell), limits=Limits(max_turns=1))
    episode.ask("solver", HELLO)
    return episode, events, episode.call_tool("echo", ToolRequest())


def test_a_tool_gets_the_reply_of_its_model() -> None:
    _, _, observation = use_a_tool_with_a_model()
    assert observation.text == "reply 1"


def test_the_request_of_a_tool_to_a_model_is_recorded() -> None:
    _, events, _ = use_a_tool_with_a_model()
    assert [event.role for event in events if isinstance(event, ModelCall)] == ["solver", "vqa"]


def test_the_request_of_a_tool_to_a_model_is_no_turn() -> None:
    episode, *_ = use_a_tool_with_a_model()
    assert episode.turns == 1


def test_a_tool_cannot_ask_without_tokens() -> None:
    episode, _ = an_episode(Echo(cell), limits=Limits(max_tokens=0))
    with pytest.raises(LimitReached, match="--max-tokens"):
        episode.call_tool("echo", ToolRequest())


def test_uses_have_a_budget() -> None:
    episode, events = an_episode(Echo(), limits=Limits(max_uses=2))
    for _ in range(2):
        episode.call_tool("echo", ToolRequest())
    with pytest.raises(LimitReached, match="--max-uses") as caught:
        episode.call_tool("echo", ToolRequest())
    assert caught.value.end_reason == "tool_limit"
    assert len(events) == 2


def test_no_tool_is_used_after_a_stop() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    episode = Episode(
        Question("?"),
        {"default": Scripted([])},
        Limits(),
        CannedSandbox(),
        lambda event: None,
        tools={"echo": Echo()},
        cancellation=cancellation,
    )
    with pytest.raises(LimitReached, match="stopped"):
        episode.call_tool("echo", ToolRequest())


class Calling(CannedSandbox):
    """A sandbox whose cells call functions of the host, and catch whatever these raise."""

    def __init__(self, *calls: Callable[[Mapping[str, HostFunction]], object]) -> None:
        super().__init__([CellResult("ok")])
        self.caught: list[Exception | None] = []
        self._calls = calls

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        for call in self._calls:
            try:
                call(functions or {})
            except Exception as error:  # noqa: BLE001 - as a cell may
                self.caught.append(error)
            else:
                self.caught.append(None)
        return super().run(code)


def calling_episode(
    tool: Echo, *calls: Callable[[Mapping[str, HostFunction]], object], limits: Limits | None = None
) -> tuple[Episode, Calling, list[Event]]:
    events: list[Event] = []
    sandbox = Calling(*calls)
    models = {"default": Scripted([])}
    return (
        Episode(Question("?"), models, limits or Limits(), sandbox, events.append, tools={tool.name: tool}),
        sandbox,
        events,
    )


def call_echo(functions: Mapping[str, HostFunction]) -> object:
    return functions["echo"]("hi")


def test_a_cell_may_call_the_tools_that_it_is_given() -> None:
    episode, sandbox, _ = calling_episode(Echo(), call_echo)
    episode.run("1", tools=("echo",))
    assert sandbox.caught == [None]


def test_a_cell_has_no_tool_that_it_is_not_given() -> None:
    episode, sandbox, _ = calling_episode(Echo(), lambda functions: dict(functions)["echo"])
    episode.run("1")
    assert isinstance(sandbox.caught[0], KeyError)


def test_a_spent_budget_ends_the_question_though_the_cell_catches_it() -> None:
    episode, _, events = calling_episode(Echo(), call_echo, call_echo, limits=Limits(max_uses=1))
    with pytest.raises(LimitReached, match="--max-uses"):
        episode.run("1", tools=("echo",))
    assert isinstance(events[-1], CellRun)


def test_a_cell_uses_no_tool_after_a_spent_budget() -> None:
    episode, sandbox, _ = calling_episode(Echo(), call_echo, call_echo, limits=Limits(max_uses=0))
    with pytest.raises(LimitReached):
        episode.run("1", tools=("echo",))
    assert [type(error) for error in sandbox.caught] == [LimitReached, ToolError]


def test_functions_of_a_strategy_end_the_question_in_the_same_way() -> None:
    def ask(functions: Mapping[str, HostFunction]) -> object:
        return functions["ask"]()

    episode, _, _ = calling_episode(Echo(), ask, limits=Limits(max_uses=0))
    with pytest.raises(LimitReached):
        episode.run("1", functions={"ask": lambda: episode.call_tool("echo", ToolRequest())})


def test_a_tool_that_fails_in_a_cell_ends_nothing() -> None:
    episode, sandbox, _ = calling_episode(Echo(broken), call_echo)
    assert episode.run("1", tools=("echo",)).status == "ok"
    assert "the service is down" in str(sandbox.caught[0])


def test_arguments_that_do_not_fit_end_nothing() -> None:
    episode, sandbox, _ = calling_episode(Echo(), lambda functions: functions["echo"](b"no picture"))
    assert episode.run("1", tools=("echo",)).status == "ok"
    assert isinstance(sandbox.caught[0], ImageError)


def test_the_options_of_a_cell_reach_the_sandbox() -> None:
    given: list[object] = []

    class Listening(CannedSandbox):
        def run(
            self, code: str, *, trace: bool = False, functions: object = None, on_output: object = None
        ) -> CellResult:
            given.extend((trace, functions))
            return super().run(code)

    sandbox = Listening([CellResult("ok")])
    events: list[Event] = []
    episode = Episode(Question("?"), {"default": Scripted([])}, Limits(), sandbox, events.append)
    functions = {"f": len}
    episode.run("1", trace=True, functions=functions)
    assert given == [True, functions]
    assert isinstance(events[-1], CellRun)
