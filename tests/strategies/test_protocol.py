"""The same loop over code in text and over native tool calls, and what only calls can do wrong."""

from __future__ import annotations

import json

import pytest

from pyvision.agent.budget import Limits
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import ConfigError
from pyvision.events import CellRun, ImageDefined, ModelCall
from pyvision.strategies.code_loop import CodeLoop
from pyvision.text.replies import find_code
from pyvision.types import ConversationState, Message, Opaque, Question, Reply, Text, ToolCall
from sandbox import CellError, CellResult
from tests.doubles import EpisodeHarness, figure, picture, printed

ANSWER = "<answer>\n\\boxed{7}\n</answer>"
TOOLS = CodeLoop(protocol="tools")


def call(code: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, "run_python", json.dumps({"code": code}))


def calling(*codes: str, text: str = "I look.") -> Reply:
    return Reply(text, calls=tuple(call(code, f"c{number}") for number, code in enumerate(codes)))


def last(harness: EpisodeHarness, turn: int) -> Message:
    return harness.model.requests[turn][-1]


def test_a_call_runs_as_a_cell() -> None:
    harness = EpisodeHarness([calling("print(7)"), ANSWER], [printed("7\n")])
    assert harness.solve(TOOLS).text == "7"
    assert harness.sandbox.cells == ["print(7)"]
    assert last(harness, 1) == Message("tool", (Text("7\n"),), "c0")


def test_the_reply_goes_back_as_the_provider_sealed_it() -> None:
    sealed = Opaque("anthropic:m", '[{"type": "thinking"}]')
    reply = Reply("I look.", calls=(call("print(7)"),), opaque=sealed)
    harness = EpisodeHarness([reply, ANSWER])
    harness.solve(TOOLS)
    assert harness.model.requests[1][-2] == Message(
        "assistant", (Text("I look."), call("print(7)")), opaque=sealed
    )


def test_parallel_calls_run_in_order_each_with_its_own_result() -> None:
    harness = EpisodeHarness([calling("a", "b"), ANSWER], [printed("1"), printed("2")])
    harness.solve(TOOLS)
    assert harness.sandbox.cells == ["a", "b"]
    assert [(m.role, m.call_id, m.text) for m in harness.model.requests[1][-2:]] == [
        ("tool", "c0", "1\n"),
        ("tool", "c1", "2\n"),
    ]


def test_tools_are_offered_in_every_turn_but_may_not_be_called_in_the_last() -> None:
    harness = EpisodeHarness([calling("a"), calling("b"), ANSWER], limits=Limits(max_turns=3))
    harness.solve(TOOLS)
    assert [sampling.tools[0].name for sampling in harness.model.samplings] == ["run_python"] * 3
    assert [sampling.tool_choice for sampling in harness.model.samplings] == ["auto", "auto", "none"]


def test_the_text_protocol_offers_no_tool() -> None:
    harness = EpisodeHarness([ANSWER])
    harness.solve(CodeLoop(protocol="text"))
    assert harness.model.samplings[0].tools == ()


@pytest.mark.parametrize(("calls_tools", "offered"), [(True, 1), (False, 0)])
def test_auto_is_what_the_model_is_known_for(*, calls_tools: bool, offered: int) -> None:
    harness = EpisodeHarness([ANSWER], accepts=EndpointLimits(calls_tools=calls_tools))
    harness.solve(CodeLoop())
    assert len(harness.model.samplings[0].tools) == offered


def test_the_record_names_the_tools_that_were_offered() -> None:
    harness = EpisodeHarness([calling("a"), ANSWER])
    harness.solve(TOOLS)
    assert [event.tools for event in harness.events if isinstance(event, ModelCall)] == [("run_python",)] * 2


def test_the_instructions_of_one_protocol_do_not_mention_the_other() -> None:
    systems = []
    for protocol in ("text", "tools"):
        harness = EpisodeHarness([ANSWER])
        harness.solve(CodeLoop(protocol=protocol))
        systems.append(harness.model.requests[0][0].text)
    assert ["run_python" in system for system in systems] == [False, True]
    assert ["<code>" in system for system in systems] == [True, False]


@pytest.mark.parametrize(
    ("calls", "fault"),
    [
        ((ToolCall("c1", "web_search", '{"query": "cats"}'),), "does not exist here"),
        ((ToolCall("c1", "run_python", '{"code": "print(1'),), "not valid JSON"),
        ((ToolCall("c1", "run_python", "{}"),), "holds no code"),
    ],
)
def test_a_call_that_cannot_be_run_gets_a_result_that_says_what_to_do(
    calls: tuple[ToolCall, ...], fault: str
) -> None:
    harness = EpisodeHarness([Reply("", calls=calls), ANSWER])
    assert harness.solve(TOOLS).text == "7"
    result = last(harness, 1)
    assert (result.role, result.call_id, result.is_error) == ("tool", "c1", True)
    assert fault in result.text
    assert "Call run_python with one cell" in result.text


def test_a_good_call_beside_a_bad_one_runs() -> None:
    bad = ToolCall("c2", "look", "{}")
    harness = EpisodeHarness([Reply("", calls=(call("a"), bad)), ANSWER])
    harness.solve(TOOLS)
    assert harness.sandbox.cells == ["a"]
    assert [message.is_error for message in harness.model.requests[1][-2:]] == [False, True]


def test_bad_calls_in_a_row_end_without_an_answer() -> None:
    bad = Reply("", calls=(ToolCall("c", "look", "{}"),))
    answer = EpisodeHarness([bad] * 5).solve(CodeLoop(protocol="tools", repairs=2))
    assert (answer.text, answer.end_reason) == (None, "no_answer")


def test_code_in_the_text_is_understood_although_tools_were_offered() -> None:
    harness = EpisodeHarness(["Look.\n<code>\n```python\nprint(7)\n```\n</code>", ANSWER], [printed("7\n")])
    assert harness.solve(TOOLS).text == "7"
    assert last(harness, 1) == Message("user", (Text("<interpreter>\n"), Text("7\n"), Text("</interpreter>")))


def test_a_call_in_the_text_is_understood() -> None:
    written = '<tool_call>\n{"name": "run_python", "arguments": {"code": "print(7)"}}\n</tool_call>'
    harness = EpisodeHarness([written, ANSWER])
    harness.solve(TOOLS)
    assert harness.sandbox.cells == ["print(7)"]


def test_a_call_runs_although_the_reply_states_an_answer() -> None:
    harness = EpisodeHarness([calling("a", text="I guess \\boxed{3}."), ANSWER])
    assert harness.solve(TOOLS).text == "7"
    assert harness.sandbox.cells == ["a"]


def test_a_call_in_the_last_reply_is_not_run() -> None:
    harness = EpisodeHarness([calling("a"), calling("b")], limits=Limits(max_turns=2))
    answer = harness.solve(TOOLS)
    assert (answer.text, answer.end_reason, harness.sandbox.cells) == (None, "turn_limit", ["a"])


def test_a_reply_that_was_cut_in_its_call_is_asked_for_once_more() -> None:
    cut = Reply("", finish="length", calls=(ToolCall("c1", "run_python", '{"code": "print(1)\\nprint('),))
    harness = EpisodeHarness([cut, calling("a"), ANSWER])
    assert harness.solve(TOOLS).text == "7"
    assert harness.sandbox.cells == ["a"]
    assert (last(harness, 1).call_id, last(harness, 1).is_error) == ("c1", True)
    assert "cut at its length limit" in last(harness, 1).text


def test_a_whole_call_before_one_that_was_cut_runs() -> None:
    cut = Reply("", finish="length", calls=(call("a", "c1"), ToolCall("c2", "run_python", '{"co')))
    harness = EpisodeHarness([cut, ANSWER])
    harness.solve(TOOLS)
    assert harness.sandbox.cells == ["a"]
    assert [message.is_error for message in harness.model.requests[1][-2:]] == [False, True]


def test_a_refusal_in_the_middle_of_a_call_ends_the_run() -> None:
    harness = EpisodeHarness([Reply("I will not.", finish="refusal", calls=(call("a"),))])
    assert harness.solve(TOOLS).end_reason == "refused"
    assert harness.sandbox.cells == []


def test_the_same_call_that_fails_for_ever_ends_the_run() -> None:
    failing = CellResult("error", error=CellError("E", "no", 1, "E"))
    harness = EpisodeHarness([calling("a")] * 9, [failing])
    assert harness.solve(TOOLS).end_reason == "loop"
    assert last(harness, 1).is_error


def test_a_figure_is_sent_where_the_endpoint_takes_it() -> None:
    places = {}
    for where in ("in_result", "after_result"):
        harness = EpisodeHarness(
            [calling("a"), ANSWER],
            [CellResult("ok", (figure(),))],
            accepts=EndpointLimits(image_placement=where),
        )
        harness.solve(TOOLS)
        asked = [event for event in harness.events if isinstance(event, ModelCall)]
        places[where] = asked[1].sent[-1].place
        assert asked[1].sent[-1].name == "image_clue_1"
    assert places == {"in_result": "in_result", "after_result": "after_result"}


def test_a_call_that_an_interrupt_left_open_gets_a_result_before_the_next_question() -> None:
    system = Message("system", (Text("call run_python"),))
    before = (system, Message("user", (Text("?"),)), Message("assistant", (call("a"), call("b", "c2"))))
    question = Question("And now?", earlier=ConversationState(before))
    harness = EpisodeHarness([ANSWER], question=question)
    harness.solve(TOOLS)
    sent = harness.model.requests[0]
    assert [(message.role, message.call_id) for message in sent[3:]] == [
        ("tool", "c1"),
        ("tool", "c2"),
        ("user", ""),
    ]
    assert "not run" in sent[3].text


def test_a_conversation_with_calls_continues_in_the_text_protocol() -> None:
    harness = EpisodeHarness([calling("print(1)"), ANSWER], [printed("1\n")])
    harness.solve(TOOLS)
    earlier = ConversationState(harness.model.requests[1])
    second = EpisodeHarness([ANSWER], question=Question("And now?", (picture(),), earlier=earlier))
    second.solve(CodeLoop(protocol="text"))
    sent = second.model.requests[0]
    assert [message.role for message in sent] == ["system", "user", "assistant", "user", "user"]
    assert find_code(sent[2].text) == "print(1)"
    assert sent[3].text == "<interpreter>\n1\n\n</interpreter>"
    assert "run_python" not in sent[0].text


def test_a_prompt_file_cannot_be_used_with_tools(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "prompts.json"
    file.write_text('{"p": "{query}"}', encoding="utf-8")
    with pytest.raises(ConfigError, match="describes the text protocol"):
        CodeLoop(prompt_file=file, protocol="tools")


QUESTIONS = [
    (["print(1)"], [printed("1")]),
    (["a", "b", "c"], [printed("x")]),
    (["a"], [CellResult("ok", (figure(), figure(colour="blue")))]),
    (["a", "b"], [CellResult("error", error=CellError("E", "no", 1, "E")), printed("2")]),
    (["a", "b"], [CellResult("timeout", state="lost"), printed("2")]),
    (["a"] * 6, [CellResult("error", error=CellError("E", "no", 1, "E"))]),
    (["a"] * 12, [printed("x")]),
    ([], [printed("x")]),
    (['print("""```""")'], [printed("x")]),
    (["x = 1\n" * 10_000, "b"], [printed("x")]),
]


@pytest.mark.parametrize(("codes", "results"), QUESTIONS)
def test_both_protocols_give_the_same_run(codes: list[str], results: list[CellResult]) -> None:
    def outcome(replies: list[str | Reply], strategy: CodeLoop) -> object:
        harness = EpisodeHarness([*replies, ANSWER], results, limits=Limits(max_turns=10))
        answer = harness.solve(strategy)
        cells = [event.code for event in harness.events if isinstance(event, CellRun)]
        figures = [(e.name, e.picture) for e in harness.events if isinstance(e, ImageDefined)]
        return answer, cells, figures, harness.episode.turns

    text = [f"I look.\n<code>\n````python\n{code}\n````\n</code>" for code in codes]
    assert outcome(list(text), CodeLoop(protocol="text")) == outcome([calling(code) for code in codes], TOOLS)
