from __future__ import annotations

from pyvision.demo.view import View
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
from pyvision.types import Evidence, Outcome, Question, Reply, Usage
from sandbox import CellResult, Stream
from tests.doubles import figure, picture
from tests.runs.report.parsed import Page

CODE = "I look.\n<code>\n```python\nprint(1)\n```\n</code>"


def a_view(question: Question | None = None) -> View:
    return View(1, question or Question("How many?"), lambda picture: f"/files/{picture.width}.png")


def model_call(text: str) -> ModelCall:
    return ModelCall("solver", "m", (), Reply(text), 0.1)


def run_ended(answer: str | None, error: str | None = None) -> RunEnded:
    reason = "answered" if answer is not None else "turn_limit"
    return RunEnded(Outcome(answer, reason, error), Usage(10, 5), 1, 1, 2.0)  # type: ignore[arg-type]


def test_a_question_is_seen_before_anything_has_happened() -> None:
    html = a_view().html
    assert "How many?" in html
    assert "Thinking" in html


def test_words_are_seen_while_they_come_and_void_ones_go() -> None:
    view = a_view()
    view.take(TextDelta("solver", "I see "))
    view.take(TextDelta("solver", "three"))
    assert "I see three" in view.html
    view.take(ReplyRestarted("solver"))
    assert "I see" not in view.html


def test_a_call_that_fails_again_is_seen_until_the_reply_comes() -> None:
    view = a_view()
    view.take(ReplyRestarted("solver", "503 from api.example.org", 3, 7.3))
    assert "503 from api.example.org, attempt 3, next in 8 s …" in view.html
    view.take(TextDelta("solver", "I see"))
    assert "503" not in view.html


def test_an_answer_of_last_resort_is_seen_as_one() -> None:
    view = a_view()
    view.take(RunEnded(Outcome("red", "turn_limit", is_last_resort=True), Usage(10, 5), 1, 1, 2.0))
    assert "the whole last reply" in view.html


def test_evidence_is_seen_as_a_box_on_its_original() -> None:
    view = a_view(Question("How many?", (picture(40, 30),)))
    evidence = (Evidence("image_clue_0", (10, 5, 30, 20)), Evidence("cell 2"))
    view.take(RunEnded(Outcome("red", "answered", evidence=evidence), Usage(10, 5), 1, 1, 2.0))
    page = Page(view.html)
    assert page.named("image")[0]["href"] == "/files/40.png"
    box = page.named("rect")[0]
    assert [box[key] for key in ("x", "y", "width", "height")] == ["10", "5", "20", "15"]
    assert "cell 2" in page.text


def test_an_interrupt_says_what_it_came_in_the_midst_of() -> None:
    view = a_view()
    why = "stopped by the caller while waiting for a cell"
    view.take(RunEnded(Outcome(None, "interrupted", why), Usage(10, 5), 1, 1, 2.0))
    assert f"No answer: {why}." in view.html


def test_a_cell_is_pending_until_it_has_run() -> None:
    view = a_view()
    view.take(TextDelta("solver", CODE[:30]))
    assert "Writing code" in view.html
    view.take(model_call(CODE))
    assert "Running" in view.html
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "1\n"),), seconds=0.3)))
    assert "Running" not in view.html
    assert ", 0.3 s" in view.html


def test_the_output_of_a_cell_is_seen_while_it_runs() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellOutput("part 1\n"))
    view.take(CellOutput("<b>part 2</b>\n"))
    assert "part 1\n&lt;b&gt;part 2" in view.html
    assert "Running" in view.html
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "whole\n"),), seconds=0.3)))
    assert "part 1" not in view.html
    assert "whole" in view.html


def test_of_much_output_the_end_is_seen_while_the_cell_runs() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellOutput("first " + "x" * 100_000 + " last"))
    assert " last" in view.html
    assert "first" not in view.html
    assert len(view.html) < 5_000


def test_pictures_are_shown_by_their_address_once_there_is_one() -> None:
    view = a_view(Question("?", (picture(40),)))
    assert "/files/40.png" not in view.html
    view.take(RunStarted(Question("?", (picture(40),)), "code_loop", {}))
    assert 'src="/files/40.png"' in view.html
    view.take(model_call(CODE))
    view.take(CellRun("1", CellResult("ok", (figure(),))))
    view.take(ImageDefined("image_clue_1", picture(33)))
    assert 'src="/files/33.png"' in view.html
    assert "image_clue_1" in view.html


def test_the_answer_stands_apart_and_ends_the_waiting() -> None:
    view = a_view()
    view.take(model_call("\\boxed{7}"))
    view.take(run_ended("7"))
    assert view.has_ended
    assert "<strong>7</strong>" in view.html
    assert "Thinking" not in view.html


def test_without_an_answer_it_says_why() -> None:
    view = a_view()
    view.take(run_ended(None, "twenty replies"))
    assert "the turn limit was reached" in view.html
    assert "twenty replies" in view.html


def test_a_failure_is_one_line() -> None:
    view = a_view()
    view.fail("no key; set one")
    assert "no key; set one" in view.html
    assert view.has_ended


def test_notes_of_a_strategy_are_shown() -> None:
    view = a_view()
    view.take(model_call("x"))
    view.take(Note("verdict", {"score": 0.5}))
    assert "verdict" in view.html


def test_whatever_is_said_is_text() -> None:
    view = a_view(Question("<b>q</b>"))
    view.take(model_call("<i>said</i> " + CODE.replace("print(1)", "'<u>code</u>'")))
    view.take(CellRun("1", CellResult("ok", (Stream("stdout", "<s>out</s>"),))))
    view.take(run_ended("<em>a</em>"))
    assert not any(f"<{tag}>" in view.html for tag in ("b>q", "i", "u", "s", "em"))


def test_what_has_happened_is_drawn_once() -> None:
    addressed: list[int] = []
    view = View(1, Question("?"), lambda picture: f"/files/{addressed.append(picture.width)}")  # type: ignore[func-returns-value]
    view.take(model_call(CODE))
    view.take(CellRun("1", CellResult("ok", (figure(),))))
    view.take(ImageDefined("image_clue_1", picture(33)))
    for event in (model_call(CODE), CellRun("2", CellResult("ok")), model_call("\\boxed{7}"), run_ended("7")):
        view.take(event)
        assert "image_clue_1" in view.html
    assert addressed == [33]


def test_only_the_last_pieces_change() -> None:
    view = a_view()
    view.take(model_call(CODE))
    view.take(CellRun("print(1)", CellResult("ok", (Stream("stdout", "1\n"),))))
    before = view.pieces
    view.take(model_call("\\boxed{7}"))
    view.take(run_ended("7"))
    after = view.pieces
    assert after[1 : len(before) - 1] == before[1:-1]
    assert "".join(after) == view.html


def test_pieces_make_a_page_whatever_a_question_holds() -> None:
    view = a_view(Question("\0 </div> \0"))
    view.take(model_call("\0</article>\0"))
    assert Page("".join(view.pieces)).open == []
    assert len(view.pieces) == 3


def test_a_cell_is_coloured_while_it_is_written() -> None:
    view = a_view()
    view.take(TextDelta("solver", CODE[:30]))
    assert '<span class="nb">print</span>' in view.html


def test_a_long_cell_is_coloured_when_it_is_whole() -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(1000))
    view = a_view()
    view.take(TextDelta("solver", f"<code>\n```python\n{code}"))
    assert "value_999 = 999" in view.html
    assert '<span class="n">' not in view.html
    view.take(model_call(f"<code>\n```python\n{code}\n```\n</code>"))
    assert '<span class="n">value_999</span>' in view.html
