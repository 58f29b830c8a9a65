"""Cells that are interrupted, time out, or lose their kernel: what the next cell finds."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import Sandbox, Session, SessionClosed
from sandbox.session import _Throttle
from tests.sandbox.conftest import png
from tests.sandbox.processes import wait_until
from tests.sandbox.runtime.test_session import LIMITED, SandboxOf, kinds

pytestmark = pytest.mark.early


def soon(action: Callable[[], None]) -> Mapping[str, Callable[[], None]]:
    """`host.begun()`, by which a cell says that it runs, so that `action` happens in the midst of it."""
    return {"begun": lambda: threading.Timer(0.1, action).start()}


def kill_kernel(session: Session) -> None:
    kernel = session._kernel
    assert kernel is not None
    os.kill(kernel.pid, signal.SIGKILL)
    assert wait_until(lambda: not kernel.is_alive())


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


def test_a_cell_can_have_a_limit_of_its_own(session: Session) -> None:
    result = session.run("import time; time.sleep(60)", timeout_s=0.3)
    assert result.status == "timeout"
    assert result.error is not None
    assert "its limit of 0.3 s" in result.error.message


def test_the_limit_of_one_cell_is_not_that_of_the_next(short: Sandbox) -> None:
    with short.open({}) as session:
        session.run("pass", timeout_s=30)
        assert session.run("import time; time.sleep(60)").status == "timeout"


def test_a_limit_below_zero_is_refused_before_the_cell_runs(session: Session) -> None:
    with pytest.raises(ValueError, match="cell_timeout_s: -1 is out of range"):
        session.run("ran = True", timeout_s=-1)
    assert session.run("print('ran' in globals())").text == "False\n"


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
    arrived = threading.Event()
    with sandbox.open({}) as session:
        result = session.run(
            f"print('last words', flush=True); host.wait()\n{code}",
            functions={"wait": arrived.wait},
            on_output=lambda text: arrived.set(),
        )
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
