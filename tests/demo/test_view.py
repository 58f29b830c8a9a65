from __future__ import annotations

from pyvision.demo.view import ChatStep, ChatView
from pyvision.events import (
    CellOutput,
    CellRun,
    ImageDefined,
    ModelCall,
    Note,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    TextDelta,
)
from pyvision.pages.markup import Markup
from pyvision.trajectory import picture_file
from pyvision.types import Evidence, Outcome, Picture, Question, Reply, Usage
from sandbox import CellResult, Stream
from tests.doubles import figure, picture
from tests.pages.parsed import Page

CODE = "I look.\n<code>\n```python\nprint(1)\n```\n</code>"


def a_view(question: Question | None = None) -> ChatView:
    return ChatView(1, question or Question("How many?"), lambda file: f"/files/{file}", first_cell=0)


def html(view: ChatView) -> str:
    return view.parts.html


def address(image: Picture) -> str:
    return f"/files/{picture_file(image)}"


def model_call(text: str) -> ModelCall:
    return ModelCall("solver", "m", (), Reply(text), 0.1)


def run_ended(answer: str | None, error: str | None = None) -> RunEnded:
    reason = "answered" if answer is not None else "turn_limit"
    return RunEnded(Outcome(answer, reason, error), Usage(10, 5), 1, 1, 2.0)  # type: ignore[arg-type]


def test_a_question_is_seen_before_anything_has_happened() -> None:
    shown = html(a_view())
    assert "How many?" in shown
    assert "Thinking" in shown


def test_words_that_become_void_are_removed() -> None:
    view = a_view()
    view.take(TextDelta("solver", "I see "))
    view.take(TextDelta("solver", "three"))
    assert "I see three" in html(view)
    view.take(ReplyRestarted("solver"))
    assert "I see" not in html(view)


def test_a_call_that_fails_again_is_seen_until_the_reply_comes() -> None:
    view = a_view()
    view.take(ReplyRestarted("solver", "503 from api.example.org", 3, 7.3))
    assert "503 from api.example.org, attempt 3, next in 8 s …" in html(view)
    view.take(TextDelta("solver", "I see"))
    assert "503" not in html(view)


def test_an_answer_of_last_resort_is_seen_as_one() -> None:
    view = a_view()
    view.take(RunEnded(Outcome("red", "turn_limit", is_last_resort=True), Usage(10, 5), 1, 1, 2.0))
    assert "this is the whole last reply" in html(view)


def test_evidence_is_seen_as_a_box_on_its_original() -> None:
    view = a_view(Question("How many?", (picture(40, 30),)))
    view.take(RunStarted(Question("How many?", (picture(40, 30),)), "code_loop", {}))
    evidence = (Evidence("image_clue_0", (10, 5, 30, 20)), Evidence("cell 2"))
    view.take(RunEnded(Outcome("red", "answered", evidence=evidence), Usage(10, 5), 1, 1, 2.0))
    page = Page(html(view))
    assert page.named("image")[0]["href"] == address(picture(40, 30))
    box = page.named("rect")[0]
    assert [box[key] for key in ("x", "y", "width", "height")] == ["10", "5", "20", "15"]
    assert "cell 2" in page.text


def test_an_interrupt_says_what_it_came_in_the_midst_of() -> None:
    view = a_view()
    why = "stopped while waiting for a cell"
    view.take(RunEnded(Outcome(None, "interrupted", why), Usage(10, 5), 1, 1, 2.0))
    assert f"No answer: {why}." in html(view)


def test_a_cell_is_pending_until_it_has_run() -> None:
    view = a_view()
    view.take(TextDelta("solver", CODE[:30]))
    assert "Writing code" in html(view)
    view.take(model_call(CODE))
    assert "Running" in html(view)
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "1\n"),), seconds=0.3)))
    assert "Running" not in html(view)
    assert "1 line · 0.3 s" in html(view)


def test_the_output_of_a_cell_is_seen_while_it_runs() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellOutput("part 1\n"))
    view.take(CellOutput("<b>part 2</b>\n"))
    assert "part 1\n&lt;b&gt;part 2" in html(view)
    assert "Running" in html(view)
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "whole\n"),), seconds=0.3)))
    assert "part 1" not in html(view)
    assert "whole" in html(view)


def test_of_much_output_the_end_is_seen_while_the_cell_runs() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellOutput("first " + "x" * 100_000 + " last"))
    assert " last" in html(view)
    assert "first" not in html(view)
    assert len(html(view)) < 5_000


def test_images_are_linked_once_they_have_an_address() -> None:
    view = a_view(Question("?", (picture(40),)))
    assert address(picture(40)) not in html(view)
    view.take(RunStarted(Question("?", (picture(40),)), "code_loop", {}))
    assert f'src="{address(picture(40))}"' in html(view)
    view.take(model_call(CODE))
    view.take(CellRun("1", CellResult("ok", (figure(),))))
    view.take(ImageDefined("image_clue_1", picture(33)))
    assert f'src="{address(picture(33))}"' in html(view)
    assert "image_clue_1" in html(view)


def test_a_folded_cell_shows_its_figure_small() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellRun("1", CellResult("ok", (figure(),))))
    view.take(ImageDefined("image_clue_1", picture(33)))
    summary = html(view).partition("<summary>")[2].partition("</summary>")[0]
    assert address(picture(33)) in summary


def test_a_folded_cell_says_what_it_is_for() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellRun("import os\nx = 1  # no\n# Count the <b>circles</b>", CellResult("ok")))
    summary = html(view).partition("<summary>")[2].partition("</summary>")[0]
    assert "Count the &lt;b&gt;circles&lt;/b&gt;" in summary


def test_only_the_images_that_came_with_a_question_are_shown_with_it() -> None:
    view = a_view(Question("?", (picture(9),)))
    view.take(RunStarted(Question("?", (picture(40), picture(9))), "bdog", {}))
    assert [name for name, _, _ in view.named_images] == ["image_clue_1"]


def test_its_place_in_the_queue_is_seen() -> None:
    view = a_view()
    view.waiting = 3
    assert "Number 3 in the queue" in html(view)


def test_the_answer_ends_the_waiting() -> None:
    view = a_view()
    view.take(model_call("\\boxed{7}"))
    view.take(run_ended("7"))
    assert view.has_ended
    assert '<div class="chat-answer short" data-copy="7">7</div>' in html(view)
    assert view.status == "Answer: 7"
    assert "Thinking" not in html(view)


def test_without_an_answer_it_says_why() -> None:
    view = a_view()
    view.take(run_ended(None, "twenty replies"))
    assert "the turn limit was reached" in html(view)
    assert "twenty replies" in html(view)


def test_a_failure_is_one_line() -> None:
    view = a_view()
    view.fail("no key; set one")
    assert "no key; set one" in html(view)
    assert view.has_ended


def test_notes_of_a_strategy_are_shown() -> None:
    view = a_view()
    view.take(model_call("x"))
    view.take(Note("verdict", {"score": 0.5}))
    assert "verdict" in html(view)


def test_all_text_of_a_conversation_is_escaped() -> None:
    view = a_view(Question("<b>q</b>"))
    view.take(model_call("<i>said</i> " + CODE.replace("print(1)", "'<u>code</u>'")))
    view.take(CellRun("1", CellResult("ok", (Stream("stdout", "<s>out</s>"),))))
    view.take(run_ended("<em>a</em>"))
    assert not any(f"<{tag}>" in html(view) for tag in ("b>q", "i", "u", "s", "em"))


def test_what_has_happened_is_drawn_once() -> None:
    addressed: list[str] = []
    view = ChatView(1, Question("?"), lambda file: addressed.append(file) or file)  # type: ignore[func-returns-value]
    view.take(model_call(CODE))
    view.take(CellRun("1", CellResult("ok", (figure(),))))
    view.take(ImageDefined("image_clue_1", picture(33)))
    for event in (model_call(CODE), CellRun("2", CellResult("ok")), model_call("\\boxed{7}"), run_ended("7")):
        view.take(event)
        assert "image_clue_1" in html(view)
    assert addressed.count(picture_file(picture(33))) == 2  # in the line and below it


def test_a_finished_step_does_not_change() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "1\n"),))))
    before = view.parts
    view.take(model_call("\\boxed{7}"))
    view.take(run_ended("7"))
    assert view.parts.steps[0] is not before.steps[0]
    assert view.parts.steps[0] == before.steps[0]


def test_each_part_is_whole_whatever_a_question_holds() -> None:
    view = a_view(Question("\0 </div> \0"))
    view.take(model_call("\0</article>\0"))
    parts = view.parts
    assert all(Page(part).open == [] for part in (parts.head, parts.steps[0].html, parts.tail))


def test_cells_are_numbered_as_in_the_conversation() -> None:
    view = ChatView(2, Question("?"), str, first_cell=3)
    view.take(model_call(CODE))
    view.take(CellRun("print(1)", CellResult("ok")))
    view.take(model_call("no code"))
    view.take(model_call(CODE))
    assert [view.position_of(cell) for cell in (2, 3, 4, 5)] == [None, 0, 2, None]
    assert 'data-cell="3"' in html(view)


def test_steps_before_an_edited_cell_are_kept() -> None:
    view = ChatView(
        1, Question("?"), str, first_cell=0, earlier_steps=(ChatStep(Markup("<p>kept</p>"), "1"),)
    )
    view.take(RunStarted(Question(""), "code_loop", {}))
    view.take(CellRun("print(2)", CellResult("ok")))
    assert [step.code for step in view.steps] == ["1", "print(2)"]
    assert view.question.text == "?"
    assert 'data-cell="1"' in html(view)


def test_a_cell_is_coloured_while_it_is_written() -> None:
    view = a_view()
    view.take(TextDelta("solver", CODE[:30]))
    assert '<span class="nb">print</span>' in html(view)


def test_a_long_cell_is_coloured_when_it_is_whole() -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(1000))
    view = a_view()
    view.take(TextDelta("solver", f"<code>\n```python\n{code}"))
    assert "value_999 = 999" in html(view)
    assert '<span class="n">' not in html(view)
    view.take(model_call(f"<code>\n```python\n{code}\n```\n</code>"))
    assert '<span class="n">value_999</span>' in html(view)


def test_what_a_tool_asks_a_model_is_not_shown_as_the_reply() -> None:
    view = a_view()
    view.take(TextDelta("vqa", "a red circle", for_tool=True))
    assert "a red circle" not in html(view)
