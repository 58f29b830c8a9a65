"""Real kernels. Tests that end one open their own session; the others share one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import CellError, CellResult, Figure, ImageError, Omitted, Policy, Sandbox, Session, Stream
from tests.sandbox.processes import alive, descendants, wait_until

pytestmark = pytest.mark.early

SandboxOf = Callable[[Policy], Sandbox]
LIMITED = Policy(cell_timeout_s=20.0, output_bytes=2_000_000, host_call_timeout_s=1.0)


def pid_of_kernel(session: Session) -> int:
    assert session._kernel is not None
    return session._kernel.pid


def kinds(result: CellResult) -> list[str]:
    return [type(output).__name__ for output in result.outputs]


def test_a_cell_prints(session: Session) -> None:
    result = session.run("print(image_clue_0.size)")
    assert (result.status, result.text, result.state) == ("ok", "(40, 30)\n", "kept")


def test_a_cell_draws(session: Session) -> None:
    assert len(session.run("plt.imshow(image_clue_0); plt.show()").figures) == 1


def test_variables_stay_from_cell_to_cell(session: Session) -> None:
    session.run("kept = 41")
    assert session.run("kept + 1").outputs == (Stream("result", "42\n"),)


def test_the_usual_names_are_there(session: Session) -> None:
    assert session.run("np.zeros(1), plt.figure, Image.new, display and None").status == "ok"


def test_an_error_keeps_earlier_output(session: Session) -> None:
    result = session.run("print('before')\nplt.plot([1]); plt.show()\nprint('after')\n1 / 0")
    assert kinds(result) == ["Stream", "Figure", "Stream"]
    assert result.error is not None
    assert (result.status, result.error.name, result.error.line) == ("error", "ZeroDivisionError", 4)
    assert "1 / 0" in result.error.traceback


def error_below_an_earlier_cell(session: Session) -> CellError:
    session.run("def earlier():\n    return np.zeros(3).reshape(2)")
    error = session.run("x = 1\nearlier()").error
    assert error is not None
    return error


def test_the_traceback_shows_only_the_cells(session: Session) -> None:
    traceback = error_below_an_earlier_cell(session).traceback
    assert "reshape(2)" in traceback
    assert "site-packages" not in traceback


def test_the_traceback_is_plain_text(session: Session) -> None:
    assert "\x1b" not in error_below_an_earlier_cell(session).traceback


def test_the_line_of_an_error_is_one_of_its_own_cell(session: Session) -> None:
    assert error_below_an_earlier_cell(session).line == 2


def test_a_syntax_error_has_its_line(session: Session) -> None:
    error = session.run("x = 1\ny = = 2").error
    assert error is not None
    assert (error.name, error.line) == ("SyntaxError", 2)


@pytest.mark.parametrize(
    "code",
    [
        "for k in range(2):\n    plt.plot([k]); plt.show()",
        "def draw(k):\n    plt.plot([k]); plt.show(block=False)\ndraw(1); draw(2)",
        "import matplotlib.pyplot\nfor k in range(2):\n    plt.plot([k]); matplotlib.pyplot.show()",
        "for k in range(2):\n    fig, ax = plt.subplots(); ax.plot([k]); fig.show()",
        "for k in range(2):\n    plt.figure(); plt.plot([k])",
        "fig, ax = plt.subplots(); ax.plot([1]); display(fig)\nimage_clue_0",
        "display(image_clue_0); image_clue_0.rotate(90, expand=True).show()",
        "import matplotlib as m; m.use('Agg')\n%matplotlib inline\nplt.plot([1]); plt.show(); image_clue_0",
        "plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]); 1 / 0",
    ],
)
def test_two_figures_are_two_in_every_form(session: Session, code: str) -> None:
    assert len(session.run(code).figures) == 2


def test_a_figure_that_is_drawn_on_after_it_was_shown_is_shown_again(session: Session) -> None:
    result = session.run("fig, ax = plt.subplots(); fig.show(); ax.plot([1]); plt.show()")
    assert len(result.figures) == 2


def test_outputs_keep_their_order(session: Session) -> None:
    result = session.run("print(1); display(image_clue_0); print(2); plt.plot([1]); plt.show(); print(3)")
    assert kinds(result) == ["Stream", "Figure", "Stream", "Figure", "Stream"]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "I", "F", "I;16"])
def test_an_image_of_any_mode_is_a_figure(session: Session, mode: str) -> None:
    (figure,) = session.run(f"Image.new({mode!r}, (6, 5))").figures
    assert (figure.mime, figure.width, figure.height) == ("image/png", 6, 5)


def test_an_image_that_is_too_large_to_show_leaves_a_note(session: Session) -> None:
    result = session.run("Image.new('L', (5000, 5000))")
    assert isinstance(result.outputs[0], Omitted)
    assert "5000x5000" in result.outputs[0].note


@pytest.mark.parametrize("code", [None, 5, b"print(1)"])
def test_code_that_is_no_text_is_refused(session: Session, code: Any) -> None:
    with pytest.raises(TypeError, match="give a str"):
        session.run(code)


def test_images_without_names_are_refused(session: Session) -> None:
    with pytest.raises(TypeError, match="the images are list; give them by name"):
        session.define([b"..."])  # type: ignore[arg-type]


def test_an_image_of_another_type_is_refused(session: Session) -> None:
    with pytest.raises(ImageError, match="image_clue_5: a int is not an image; give bytes or a path"):
        session.define({"image_clue_5": 5})  # type: ignore[dict-item]


def test_input_is_an_error(session: Session) -> None:
    assert session.run("input('name?')").status == "error"


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "exit()", "quit()", "raise SystemExit"])
def test_leaving_ends_only_the_cell(session: Session, code: str) -> None:
    session.run("still = 'here'")
    result = session.run(code)
    assert (result.status, result.state) == ("error", "kept")
    assert session.run("print(still)").text == "here\n"


def test_the_output_of_a_child_process_is_the_cells(session: Session) -> None:
    assert "from a child" in session.run("import os; os.system('echo from a child') and None").text


@pytest.mark.parametrize("code", ["sys.stdout.close()", "sys.stdout = None", "sys.stdout = None; 1 / 0"])
def test_a_cell_that_loses_its_output_does_not_silence_the_next(session: Session, code: str) -> None:
    session.run(f"import sys; {code}")
    assert session.run("print('heard')").text == "heard\n"


def test_the_list_of_fonts_is_ready(session: Session) -> None:
    listed = "import os, matplotlib; print(os.listdir(matplotlib.get_cachedir()))"
    assert "fontlist" in session.run(listed).text


def test_a_message_that_is_too_large_costs_its_own_cell_only(session: Session) -> None:
    result = session.run("display({'image/png': 'A' * 80_000_000}, raw=True)")
    assert isinstance(result.outputs[-1], Omitted)
    assert session.run("print('next')").text == "next\n"


def test_a_thread_of_an_earlier_cell_cannot_write_into_a_later_one(session: Session) -> None:
    session.run(
        "import threading, time\n"
        "def late():\n    for _ in range(40): time.sleep(0.02); print('LATE')\n"
        "thread = threading.Thread(target=late); thread.start()"
    )
    assert session.run("time.sleep(0.3); print('mine')").text == "mine\n"
    assert session.run("thread.join()").text == ""


def test_text_written_in_one_huge_piece_is_cut_in_its_middle(session: Session) -> None:
    text = session.run("print('a' * 30_000_000 + 'END')").text
    assert text.startswith("aaa")
    assert text.endswith("END\n")
    assert "characters left out" in text


def test_what_a_cell_prints_arrives_while_it_runs(session: Session) -> None:
    has_arrived = threading.Event()
    code = "print('first', flush=True)\nprint('seen' if host.wait() else 'too late')"
    result = session.run(
        code,
        functions={"wait": lambda: has_arrived.wait(20)},
        on_output=lambda text: has_arrived.set() if "first" in text else None,
    )
    assert result.text == "first\nseen\n"


def test_live_output_is_bounded(session: Session) -> None:
    pieces: list[str] = []
    result = session.run("for _ in range(50): print('x' * 9_999)", on_output=pieces.append)
    assert len(result.text) == 500_000
    assert sum(map(len, pieces)) == 100_000


def test_text_of_a_thread_of_an_earlier_cell_is_kept_apart(session: Session) -> None:
    session.run(
        "import threading, time\n"
        "late = threading.Thread(target=lambda: (time.sleep(0.3), print('late words'))); late.start()"
    )
    result = session.run("late.join(); print('own words')")
    assert (result.text, result.stragglers) == ("own words\n", "late words\n")


def test_text_of_a_process_of_an_earlier_cell_is_kept_apart(session: Session) -> None:
    session.run("import subprocess; child = subprocess.Popen(['sh', '-c', 'sleep 0.3; echo late words'])")
    assert wait_until(lambda: not alive(descendants(pid_of_kernel(session))))
    result = session.run("print('own words')")
    assert (result.text, result.stragglers) == ("own words\n", "late words\n")


def test_output_of_a_child_process_keeps_its_place(session: Session) -> None:
    code = "import os\nprint('one')\nos.system('echo two')\nprint('three')\nNone"
    assert session.run(code).text == "one\ntwo\nthree\n"


def test_the_line_that_holds_the_interpreter_is_named(short: Sandbox) -> None:
    with short.open({}) as session:
        result = session.run("import re\nprint('before')\nre.match(r'(a+)+$', 'a' * 40 + 'b')")
        assert (result.status, result.state, result.text) == ("timeout", "lost", "before\n")
        assert result.error is not None
        assert result.error.line == 3


def test_more_output_than_the_policy_allows_is_not_even_received(sandbox_of: SandboxOf) -> None:
    with sandbox_of(LIMITED).open({}) as session:
        result = session.run("for _ in range(20): print('y' * 1_000_000)")
        assert (result.status, result.state) == ("ok", "kept")
        assert isinstance(result.outputs[-1], Omitted)
        assert session.run("print(6 * 7)").text == "42\n"


def test_a_traced_cell_records_changes_by_line(session: Session) -> None:
    trace = session.run("total = 0\nfor step in range(2):\n    total += step", trace=True).trace
    assert trace is not None
    assert [event.line for event in trace.events if event.kind == "line"] == [1, 2, 3, 2, 3, 2]
    assert ("total", "1", "modified") in [
        (change.name, change.value, change.how) for event in trace.events for change in event.changes
    ]
    assert session.run("1").trace is None


def test_a_traced_cell_that_is_killed_keeps_its_trace_up_to_there(short: Sandbox) -> None:
    with short.open({}) as session:
        result = session.run("import os, time\nwaited = 1\ntime.sleep(0.3)\nos._exit(1)", trace=True)
        assert result.status == "died"
        assert result.trace is not None
        assert [event.line for event in result.trace.events if event.kind == "line"][:3] == [1, 2, 3]


def test_a_cell_calls_functions_of_the_host_with_pictures(session: Session) -> None:
    def turned(figure: Figure, times: int = 1) -> dict[str, object]:
        return {"size": [figure.height, figure.width], "times": times, "same": figure}

    code = "got = host.turned(image_clue_0, times=3); print(got['size'], got['times'], got['same'].size)"
    assert session.run(code, functions={"turned": turned}).text == "[30, 40] 3 (40, 30)\n"


def test_a_function_of_the_host_that_fails_can_be_caught(session: Session) -> None:
    def failing() -> None:
        raise ValueError("the service is away")

    code = "try:\n    host.failing()\nexcept Exception as error:\n    print(type(error).__name__, error)"
    expected = "HostError failing failed: ValueError: the service is away\n"
    assert session.run(code, functions={"failing": failing}).text == expected
    assert session.run("host.failing()").status == "error"  # this cell was given none


def test_the_time_of_a_host_function_is_not_the_cells(short: Sandbox) -> None:
    with short.open({}) as session:
        result = session.run("host.wait(1.3); print('on time')", functions={"wait": time.sleep})
        assert (result.status, result.text) == ("ok", "on time\n")
