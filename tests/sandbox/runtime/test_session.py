"""Real kernels. Tests that end one open their own session; the others share one."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import CellError, CellResult, Figure, Omitted, Policy, Sandbox, Session, SessionClosed, Stream
from sandbox.session import _Throttle
from tests.sandbox.conftest import png
from tests.sandbox.processes import alive, descendants, wait_until

pytestmark = pytest.mark.early

SandboxOf = Callable[[Policy], Sandbox]
LIMITED = Policy(cell_timeout_s=20.0, output_bytes=2_000_000, host_call_timeout_s=1.0)


def soon(action: Callable[[], None]) -> Mapping[str, Callable[[], None]]:
    """`host.begun()`, by which a cell says that it runs, so that `action` happens in the midst of it."""
    return {"begun": lambda: threading.Timer(0.1, action).start()}


def pid_of_kernel(session: Session) -> int:
    assert session._kernel is not None
    return session._kernel.pid


def kill_kernel(session: Session) -> None:
    kernel = session._kernel
    assert kernel is not None
    os.kill(kernel.pid, signal.SIGKILL)
    assert wait_until(lambda: not kernel.is_alive())


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


def test_a_failing_reader_of_live_output_ends_the_cell(sandbox: Sandbox) -> None:
    def fail(text: str) -> None:
        raise OSError("the reader is gone")

    with sandbox.open({}) as opened:
        with pytest.raises(OSError, match="the reader is gone"):
            opened.run("print(1)", on_output=fail)
        assert opened.run("print(2)").text == "2\n"


_ENDLESS = "print('begun', flush=True)\nhost.begun()\nwhile True:\n    pass"


def test_an_interrupt_ends_the_cell(session: Session) -> None:
    result = session.run(_ENDLESS, functions=soon(session.interrupt))
    assert (result.status, result.text, result.state) == ("error", "begun\n", "kept")
    assert result.error is not None
    assert result.error.name == "KeyboardInterrupt"
    assert result.error.line in {2, 3, 4}


def test_an_interrupt_keeps_the_variables(session: Session) -> None:
    session.run("x = 7")
    session.run(_ENDLESS, functions=soon(session.interrupt))
    assert session.run("print(x)").text == "7\n"


def test_an_interrupt_between_cells_does_nothing(session: Session) -> None:
    session.interrupt()
    assert session.run("import time; time.sleep(0.2); print('whole')").text == "whole\n"


def test_a_timeout_that_the_interrupt_ends_keeps_the_variables(short: Sandbox) -> None:
    with short.open({}) as session:
        session.run("x = 7")
        result = session.run(
            "import time; print('so far')\nplt.plot([1]); plt.show()\nwhile True:\n    time.sleep(9)"
        )
        assert (result.status, result.state, kinds(result)) == ("timeout", "kept", ["Stream", "Figure"])
        assert result.error is not None
        assert result.error.name == "TimeoutError"
        assert result.error.line in {3, 4}
        assert "1 s" in result.error.message
        assert session.run("print(x)").text == "7\n"


def test_a_cell_after_a_timeout_gets_its_own_output(short: Sandbox) -> None:
    stubborn = (
        "import time\nprint('FIRST', flush=True)\n"
        "while True:\n    try:\n        time.sleep(9)\n"
        "    except BaseException:\n        print('AGAIN', flush=True)"
    )
    with short.open({"image_clue_0": png()}) as session:
        session.define({"image_clue_1": png((7, 5))})
        result = session.run(stubborn)
        assert (result.status, result.state) == ("timeout", "lost")
        assert result.text.startswith("FIRST\n")
        again = session.run("print(image_clue_0.size, image_clue_1.size)")
        assert (again.status, again.text, again.state) == ("ok", "(40, 30) (7, 5)\n", "kept")


@pytest.mark.parametrize(
    "code",
    ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "import ctypes; ctypes.string_at(0)"],
)
def test_a_kernel_that_dies_is_noticed_at_once(sandbox: Sandbox, code: str) -> None:
    with sandbox.open({}) as session:
        result = session.run(f"import time; print('last words', flush=True); time.sleep(0.3)\n{code}")
        assert (result.status, result.text, result.state) == ("died", "last words\n", "lost")


def test_a_kernel_that_died_is_replaced_with_its_images(sandbox: Sandbox) -> None:
    with sandbox.open({"image_clue_0": png()}) as session:
        assert session.run("import os; os._exit(0)").state == "lost"
        assert session.run("print(image_clue_0.size)").text == "(40, 30)\n"


def test_a_kernel_that_dies_between_cells_is_reported_by_the_next_one(sandbox: Sandbox) -> None:
    with sandbox.open({}) as session:
        session.run("x = 1")
        kill_kernel(session)
        result = session.run("print('not run')")
        assert (result.status, result.text, result.state) == ("died", "", "lost")


def test_images_for_a_kernel_that_died_go_to_its_successor(sandbox: Sandbox) -> None:
    with sandbox.open({}) as session:
        session.run("x = 1")
        kill_kernel(session)
        session.define({"image_clue_0": png()})
        assert (session.run("1").status, session.run("print(image_clue_0.size)").text) == (
            "died",
            "(40, 30)\n",
        )


def test_a_session_works_after_ctrl_c_on_the_host(sandbox: Sandbox) -> None:
    with sandbox.open({}) as session:
        main = threading.get_ident()
        ctrl_c = soon(lambda: signal.pthread_kill(main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            session.run("host.begun()\nwhile True:\n    pass", functions=ctrl_c)
        assert session.run("print('alive')").text == "alive\n"


def test_many_threads_use_one_sandbox(sandbox: Sandbox) -> None:
    def ask(number: int) -> str:
        with sandbox.open({"image_clue_0": png((number, 1))}) as session:
            return session.run("print(image_clue_0.size[0])").text

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, [1, 2, 3])) == ["1\n", "2\n", "3\n"]


def test_a_session_outlives_the_thread_that_opened_it(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(1) as pool:
        session = pool.submit(sandbox.open, {}).result()
    assert session.run("print('alive')").text == "alive\n"
    session.close()


def test_closing_from_another_thread_ends_a_cell(sandbox: Sandbox) -> None:
    session = sandbox.open({})
    assert session.run("host.begun()\nwhile True:\n    pass", functions=soon(session.close)).status == "died"
    with pytest.raises(SessionClosed):
        session.run("1")


def test_a_closed_sandbox_opens_nothing() -> None:
    sandbox = Sandbox()
    sandbox.close()
    sandbox.close()
    with pytest.raises(SessionClosed):
        sandbox.open({})


def test_empty_lines_before_the_code_count(session: Session) -> None:
    error = session.run("\n\n\n1 / 0").error
    assert error is not None
    assert error.line == 4


def test_a_kernel_that_closes_its_sockets_does_not_block_the_caller(short: Sandbox) -> None:
    code = "import os\nos.closerange(3, 300)\nwhile True: pass"
    with short.open({}) as session:
        for _ in range(3):
            assert session.run(code).state == "lost"
            assert session.run("print(6 * 7)").text == "42\n"


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


def test_a_host_function_has_a_limit_of_its_own(sandbox_of: SandboxOf) -> None:
    released = threading.Event()
    with sandbox_of(LIMITED).open({}) as session:
        result = session.run("host.wait()", functions={"wait": lambda: released.wait(60)})
        released.set()
        assert result.error is not None
        assert "took longer than 1 s" in result.error.message
        assert session.run("print(host.add(1, 2))", functions={"add": lambda a, b: a + b}).text == "3\n"


def test_a_cell_that_waits_for_the_host_can_be_interrupted(session: Session) -> None:
    released = threading.Event()

    def wait() -> None:
        threading.Timer(0.1, session.interrupt).start()
        released.wait(60)

    result = session.run("host.wait()", functions={"wait": wait})
    released.set()
    assert result.error is not None
    assert (result.error.name, result.state) == ("KeyboardInterrupt", "kept")
    assert session.run("print(host.add(1, 2))", functions={"add": lambda a, b: a + b}).text == "3\n"


def test_a_session_that_loses_kernel_after_kernel_waits_longer_for_the_next() -> None:
    throttle = _Throttle()
    delays = [throttle.delay_s() for _ in range(12)]
    assert delays[0] == 0
    assert delays == sorted(delays)
    assert 0 < delays[-1] <= 1
