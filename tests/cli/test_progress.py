from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pyvision.cli.commands.run import solve_shown
from pyvision.cli.progress import Progress, RetryCountdown
from pyvision.events import (
    CellOutput,
    CellRun,
    Event,
    ImageDefined,
    ModelCall,
    Note,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    TextDelta,
    ToolRun,
)
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from pyvision.types import (
    Message,
    Observation,
    Outcome,
    Question,
    Reply,
    Sampling,
    ToolRequest,
    Usage,
)
from sandbox import CellError, CellResult, Stream
from tests.doubles import CannedSandbox, picture, printed


def render(*events: Event, terminal: bool = False, width: int = 80) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, highlight=False)
    with Progress(Path("runs/x"), console) as progress:
        for event in events:
            progress.show(event)
    return file.getvalue()


def make_reply(text: str) -> ModelCall:
    return ModelCall("solver", "model", (), Reply(text), 1.25)


TURN = make_reply("I crop the sign.\n<code>\n```python\nx = 1\nprint(x)\n```\n")


def test_a_turn_shows_its_thought_before_its_code() -> None:
    assert "turn 1 · 1.2 s\nI crop the sign.\n    x = 1\n    print(x)\n" in render(TURN)


def test_a_turn_is_shown_without_its_tags() -> None:
    assert "<code>" not in render(TURN)


def test_a_terminal_gets_highlighted_code() -> None:
    assert "\x1b[" in render(make_reply("<code>\n```python\nx = 1\n```\n"), terminal=True)


def render_hostile(text: str) -> str:
    return render(
        make_reply(text),
        CellRun("1", printed(text)),
        CellRun("1", CellResult("error", error=CellError("E", text))),
        Note("n", {"why": text}),
    )


def test_markup_of_others_is_only_text() -> None:
    assert render_hostile("[red]not red[/red]").count("[red]not red[/red]") == 4


def test_terminal_escapes_of_others_are_left_out() -> None:
    text = render_hostile("before \x1b]0;title\x07\x1b[2J after")
    assert text.count("before ") == 4
    assert "\x1b" not in text
    assert "\x07" not in text


LONG = "\n".join(f"line{n}()" for n in range(300))


@pytest.mark.parametrize(
    "event",
    [CellRun("1", printed(LONG)), make_reply(f"<code>\n```python\n{LONG}\n```\n")],
    ids=["output", "code"],
)
def test_what_is_long_is_shortened_in_its_middle(event: Event) -> None:
    text = render(event)
    assert "line0()" in text
    assert "line299()" in text
    assert "line150()" not in text
    assert "more lines" in text


def test_a_remark_on_an_answer_is_printed_below_it() -> None:
    remark = "best effort: nowhere is left to go"
    assert render(RunEnded(Outcome("an owl", "answered", remark), Usage(), 5, 0, 1.0)).endswith(
        f"\n{remark}\n"
    )


def test_what_a_model_declines_with_is_printed_once() -> None:
    refusal = "I cannot help with that."
    ended = RunEnded(Outcome(None, "refused", refusal), Usage(), 1, 0, 1.0)
    assert render(make_reply(refusal), ended).count(refusal) == 1


LOST = CellRun(
    "1", CellResult("timeout", (Stream("stdout", "half"),), CellError("T", "too long"), 30.0, "lost")
)


def test_an_error_is_shown_below_the_output_before_it() -> None:
    text = render(LOST)
    assert -1 < text.find("│ half") < text.find("│ too long")


def test_a_lost_kernel_is_reported() -> None:
    assert "timeout · 30.0 s, the kernel was restarted" in render(LOST)


def test_figures_are_named_with_the_file_they_lie_in() -> None:
    text = render(ImageDefined("image_clue_1", picture(40, 30)))
    assert text.startswith("image_clue_1  40 x 30  runs/x/images/")
    assert text.endswith(".png\n")


ENDED = RunEnded(Outcome(None, "turn_limit", "20 turns are spent"), Usage(900, 100), 20, 3, 12.34)


def test_the_end_sums_up_the_run() -> None:
    assert "turn_limit · 20 turns, 3 cells, 12.3 s · 1,000 tokens · runs/x" in render(ENDED)


def test_the_end_names_its_reason() -> None:
    assert "20 turns are spent" in render(ENDED)


def test_the_end_states_the_cost_where_it_is_known() -> None:
    text = render(RunEnded(Outcome("7", "answered"), Usage(900, 100, 450), 2, 1, 3.0, 0.0123))
    assert "1,000 tokens, 50% of the input cached · cost 0.0123 ·" in text


def make_deltas(*pieces: str) -> tuple[Event, ...]:
    return tuple(TextDelta("solver", piece) for piece in pieces)


REPLY = "I crop the sign.\nThen I read it.\n<code>\n```python\nprint(1)\n```\n"


def test_on_a_terminal_prose_is_shown_while_it_comes() -> None:
    text = render(*make_deltas("I crop", " the sign.\nThen", " I"), terminal=True)
    assert "I crop the sign." in text
    assert "Then" not in text


def test_what_was_shown_while_it_came_is_not_shown_again() -> None:
    text = render(*make_deltas(*REPLY), make_reply(REPLY), terminal=True)
    assert [text.count(line) for line in ("turn 1", "I crop the sign.", "Then I read it.")] == [1, 1, 1]
    assert "<code>" not in text
    assert "print" in text


def test_a_reply_that_begins_again_is_shown_whole() -> None:
    text = render(
        *make_deltas("I see\na boat"),
        ReplyRestarted("solver"),
        *make_deltas(REPLY),
        make_reply(REPLY),
        terminal=True,
    )
    assert "asking again" in text
    assert text.count("I crop the sign.") == 1


def test_a_third_attempt_is_announced_with_its_reason() -> None:
    failed = ReplyRestarted("solver", "503 from api.example.org", 3, 7.3)
    assert render(failed) == "503 from api.example.org, attempt 3, next in 8 s\n"


def test_the_second_attempt_is_not_worth_a_line() -> None:
    assert render(ReplyRestarted("solver", "503 from api.example.org", 2, 1.0)) == ""


def test_an_interrupt_says_what_it_came_in_the_midst_of() -> None:
    why = "stopped while waiting for m (503 from api.example.org, attempt 3, next in 8 s)"
    assert render(RunEnded(Outcome(None, "interrupted", why), Usage(), 1, 0, 0.5)).startswith(
        f"\n{why}; kept: "
    )


def test_an_answer_of_last_resort_is_shown_as_one() -> None:
    ended = RunEnded(Outcome("It is red.", "turn_limit", is_last_resort=True), Usage(), 1, 0, 0.5)
    assert "had no answer in a known format" in render(ended)


def test_on_a_terminal_output_is_shown_while_the_cell_runs() -> None:
    text = render(CellOutput("step 1\nst"), CellOutput("ep 2\nste"), terminal=True)
    assert "│ step 1" in text
    assert "│ step 2" in text
    assert "│ ste\n" not in text


def test_output_that_was_shown_while_the_cell_ran_is_not_shown_again() -> None:
    live = (CellOutput("step 1\n"), CellOutput("step 2\n"))
    text = render(*live, CellRun("1", printed("step 1\nstep 2\nstep 3\n")), terminal=True)
    assert [text.count(f"│ step {n}") for n in (1, 2, 3)] == [1, 1, 1]


def test_output_that_arrived_in_another_order_is_shown_whole() -> None:
    text = render(CellOutput("b\n"), CellRun("1", printed("a\nb\n")), terminal=True)
    assert (text.count("│ a"), text.count("│ b")) == (1, 2)


def test_of_long_output_only_the_first_lines_are_shown_while_the_cell_runs() -> None:
    lines = "".join(f"line {n}.\n" for n in range(100))
    text = render(CellOutput(lines), CellRun("1", printed(lines)), terminal=True)
    assert text.count("│ line ") == 24
    assert text.index("│ line 15.") < text.index("76 more lines") < text.index("│ line 99.")


def test_the_output_of_one_cell_does_not_hide_that_of_the_next() -> None:
    cell = (CellOutput("same\n"), CellRun("1", printed("same\n")))
    assert render(*cell, *cell[1:], terminal=True).count("│ same") == 2


def test_live_output_is_plain_text() -> None:
    assert "\x1b[2J" not in render(CellOutput("\x1b[2Jgone\n"), terminal=True)


def test_without_a_terminal_output_is_shown_when_the_cell_has_run() -> None:
    assert render(CellOutput("step 1\n")) == ""


def test_without_a_terminal_a_reply_is_shown_when_it_is_whole() -> None:
    assert render(*make_deltas("I crop the sign.\n")) == ""
    assert render(*make_deltas(REPLY), make_reply(REPLY)) == render(make_reply(REPLY))


def test_offline_says_that_it_is_a_rule_based_reasoner() -> None:
    question = Question("?", (picture(),))
    assert "rule-based model" in render(RunStarted(question, "code_loop", {"default": "offline"}), width=300)
    assert "rule-based" not in render(RunStarted(question, "code_loop", {"default": "gpt"}), width=300)


def render_note() -> str:
    program = "\n".join(f"line {n}" for n in range(40))
    return render(Note("verdict", {"round": 1, "spans": [[1, 2]], "graph": "x" * 400, "program": program}))


def test_the_short_fields_of_a_note_are_one_line() -> None:
    assert render_note().startswith("verdict: round 1, spans [[1, 2]], graph xxx")


def test_the_lines_of_a_note_stand_below_it() -> None:
    assert "\n  program\n    line 0\n" in render_note()


def test_long_fields_of_a_note_are_shortened() -> None:
    assert "x" * 200 not in render_note()
    assert "more lines" in render_note()


def test_the_use_of_a_tool_is_one_line_with_what_it_found_or_why_not() -> None:
    asked_for = ToolRequest("red circle")
    found = ToolRun("detect", asked_for, Observation("one\ntwo"), 0.1)
    failed = ToolRun("detect", asked_for, Observation(error="it is down"), 0.1)
    assert render(found, failed) == "detect: one two\ndetect: it is down\n"


CODE = "<code>\n```python\ndef f(x):\n    return 'a' + 1  # why\n```\n"


def test_code_keeps_to_the_colours_of_the_terminal() -> None:
    text = render(make_reply(CODE), terminal=True)
    assert "\x1b[38;" not in text
    assert "\x1b[48;" not in text


def test_code_is_never_white_or_black() -> None:
    text = render(make_reply(CODE), terminal=True)
    assert [f"\x1b[{code}m" for code in (30, 37, 90, 97) if f"\x1b[{code}m" in text] == []


@pytest.mark.parametrize("why", ["503 from api.example.com: overloaded " * 3, "日本語" * 40])
def test_the_line_of_a_retry_fits_40_columns(why: str) -> None:
    line = RetryCountdown(why, 12.0, 40).__rich__()
    assert isinstance(line, Text)
    assert cell_len(line.plain) <= 37


def test_a_retry_counts_down() -> None:
    times = iter([100.0, 100.2, 107.5, 130.0])
    waiting = RetryCountdown("503", 10.0, 80, lambda: next(times))
    lines = [waiting.__rich__().plain for _ in range(3)]
    assert lines == ["next attempt in 10 s: 503", "next attempt in 3 s: 503", "asking again: 503"]


def test_the_line_of_progress_fits_40_columns() -> None:
    text = render(CellOutput("x" * 300), terminal=True, width=40)
    running = [line for line in text.split("\r") if "running the cell" in line]
    assert running
    assert all(len(Text.from_ansi(line).plain.strip("\n")) <= 40 for line in running)


def test_an_interrupt_says_in_one_line_what_is_kept() -> None:
    outcome = Outcome(None, "interrupted", "stopped while waiting for a cell")
    text = render(RunEnded(outcome, Usage(), 2, 1, 3.0))
    assert text == ("\nstopped while waiting for a cell; kept: 2 turns, 1 cell, 3.0 s · runs/x\n")


def test_an_interrupt_that_was_shown_is_an_outcome() -> None:
    class Interrupted(Scripted):
        def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
            raise KeyboardInterrupt

    file = io.StringIO()
    progress = Progress(Path("runs/x"), Console(file=file, highlight=False))
    with prepare("?", picture().data, model=Interrupted([]), strategy="direct") as task:
        outcome = solve_shown(task, progress.show, progress, CannedSandbox())
    assert outcome.end_reason == "interrupted"
    assert file.getvalue().count("stopped") == 1


def test_the_notice_about_offline_names_what_can_be_used_instead() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, highlight=False)
    hint = "running on this machine: --model ollama:qwen3-vl:8b"
    with Progress(Path("runs/x"), console, hint) as progress:
        progress.show(RunStarted(Question("?"), "code_loop", {"default": "offline"}))
    assert f"not a language model;\n{hint}\n" in file.getvalue()


def test_a_pipe_gets_no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYVISION_IMAGES", "kitty")
    assert "\x1b" not in render(ImageDefined("image_clue_1", picture()))


def test_a_terminal_gets_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYVISION_IMAGES", "kitty")
    assert "\x1b_Ga=T" in render(ImageDefined("image_clue_1", picture()), terminal=True)


def test_a_model_that_a_tool_asks_is_no_turn_on_the_screen() -> None:
    by_tool = ModelCall("vqa", "model", (), Reply("red"), 0.5, for_tool=True)
    shown = render(
        make_reply("I look."), TextDelta("vqa", "red\n", for_tool=True), by_tool, make_reply("Red.")
    )
    assert "model call by a tool: vqa · 0.5 s" in shown
    assert "turn 2" in shown
    assert "turn 3" not in shown
