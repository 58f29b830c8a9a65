"""Kernels of notebooks in containers: what a Jupyter client sees of them, from the first cell to the end."""

# jupyter_client and nbclient are typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from sandbox.jupyter.kernelspec import policy_from
from sandbox.jupyter.provisioner import Engines
from sandbox.policy import Policy
from tests.sandbox.jupyter.notebooks import installed, ran
from tests.sandbox.processes import alive, descendants, wait_until


@pytest.fixture(scope="module", autouse=True)
def place() -> Iterator[Path]:
    with installed("--set", "processes=100") as folder:
        yield folder


def _start() -> tuple[Any, Any]:
    from jupyter_client.manager import start_new_kernel

    return start_new_kernel(kernel_name="sandbox")


def _end(manager: Any, client: Any) -> None:
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel() -> Iterator[tuple[Any, Any]]:
    manager, client = _start()
    yield manager, client
    _end(manager, client)


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[Any, Any]]:
    """For tests that leave the kernel alive."""
    manager, client = _start()
    yield manager, client
    _end(manager, client)


def _wait_for_text(client: Any, text: str) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if text in client.get_iopub_msg(timeout=20)["content"].get("text", ""):
            return
    raise AssertionError(f"{text!r} was not printed")


def _interrupted(kernel: tuple[Any, Any], code: str) -> dict[str, Any]:
    """The reply to a cell that says `begun`, and is interrupted then."""
    manager, client = kernel
    client.execute(code, stop_on_error=False)  # else what comes next may be aborted
    _wait_for_text(client, "begun")
    manager.interrupt_kernel()
    reply: dict[str, Any] = client.get_shell_msg(timeout=20)["content"]
    return reply


@pytest.mark.parametrize(
    "code",
    [
        "print('begun', flush=True)\nwhile True: pass",
        "import time; print('begun', flush=True); time.sleep(60)",
        "import threading, time\n"
        "def work():\n"
        "    while not ended.wait(0.01): pass\n"
        "ended = threading.Event()\n"
        "thread = threading.Thread(target=work); thread.start(); print('begun', flush=True)\n"
        "try: thread.join()\n"
        "finally: ended.set()",
        "import subprocess; print('begun', flush=True); subprocess.run(['sleep', '60'])",
    ],
    ids=["a loop", "a sleep", "a thread that is waited for", "another process"],
)
def test_an_interrupt_ends(code: str, shared: tuple[Any, Any]) -> None:
    assert _interrupted(shared, code)["ename"] == "KeyboardInterrupt"
    assert ran(shared[1], "print('next')").text == "next\n"


def test_an_interrupt_reaches_a_handler_that_the_cell_has_set(shared: tuple[Any, Any]) -> None:
    code = (
        "import signal\nseen = []\n"
        "before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('begun', flush=True)\nwhile not seen: pass\nsignal.signal(signal.SIGINT, before)"
    )
    assert _interrupted(shared, code)["status"] == "ok"
    assert ran(shared[1], "print(seen)").text == "[1]\n"


def test_a_signal_from_the_client_is_an_interrupt_too(shared: tuple[Any, Any]) -> None:
    import signal

    manager, client = shared
    client.execute("import time; print('begun', flush=True); time.sleep(60)")
    _wait_for_text(client, "begun")
    manager.signal_kernel(signal.SIGINT)
    assert client.get_shell_msg(timeout=20)["content"]["ename"] == "KeyboardInterrupt"
    assert manager.is_alive()


@pytest.mark.parametrize(
    "code",
    [
        "print('begun', flush=True); sum(range(10**11))",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "print('begun', flush=True)\nwhile True: pass",
        "while True:\n    try:\n        print('begun', flush=True)\n        while True: pass\n"
        "    except BaseException: pass",
        "import os, signal; print('begun', flush=True); os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["C code that holds the interpreter", "an ignored signal", "a caught interrupt", "a stopped kernel"],
)
def test_what_no_interrupt_ends_is_ended_by_a_restart(code: str, kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    client.execute(code)
    _wait_for_text(client, "begun")
    time.sleep(0.3)  # until it is in there
    manager.interrupt_kernel()
    with pytest.raises(Empty):  # it runs on
        client.get_shell_msg(timeout=0.3)
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=20)
    assert ran(client, "print('next')").text == "next\n"


def test_a_restart_gives_a_fresh_kernel_under_the_same_connection(kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    ran(client, "kept = 1; open('/tmp/kept', 'w').close()")
    before = Path(manager.connection_file).read_bytes()
    manager.restart_kernel()
    client.wait_for_ready(timeout=20)
    assert ran(client, "print('kept' in globals(), __import__('os').path.exists('/tmp/kept'))").text == (
        "False False\n"
    )
    assert Path(manager.connection_file).read_bytes() == before


def test_a_shutdown_lets_the_kernel_run_what_it_registered_for_its_end(kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    ran(client, "import atexit; atexit.register(lambda: print('goodbye', flush=True))")
    client.shutdown()
    _wait_for_text(client, "goodbye")
    assert wait_until(lambda: not manager.is_alive())


def test_a_shutdown_leaves_nothing(place: Path) -> None:
    _end(*_start())  # the zygote, which stays
    processes, files = descendants(os.getpid()), set(place.rglob("*"))
    manager, client = _start()
    ran(client, "import subprocess; left = subprocess.Popen(['sleep', '600'], start_new_session=True)")
    ours = {pid: at for pid, at in descendants(os.getpid()).items() if pid not in processes}
    assert ours
    assert set(place.rglob("*")) > files
    client.stop_channels()
    manager.shutdown_kernel()
    assert wait_until(lambda: not alive(ours))
    assert set(place.rglob("*")) == files


def test_a_kernel_that_dies_is_seen_to_be_dead(kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    client.execute("import os; os._exit(3)")
    assert wait_until(lambda: not manager.is_alive())


def test_its_heart_beats(shared: tuple[Any, Any]) -> None:
    assert wait_until(shared[1].hb_channel.is_beating)


def test_a_cell_can_ask_the_user(shared: tuple[Any, Any]) -> None:
    client = shared[1]
    client.execute("answer = input('name? ')", allow_stdin=True)
    asked = client.get_stdin_msg(timeout=20)
    assert asked["content"]["prompt"] == "name? "
    client.input("Ada")
    assert client.get_shell_msg(timeout=20)["content"]["status"] == "ok"
    assert ran(client, "print(answer)").text == "Ada\n"


def test_a_comm_carries_data_both_ways(shared: tuple[Any, Any]) -> None:
    client = shared[1]
    code = (
        "def opened(comm, message):\n"
        "    comm.on_msg(lambda message: comm.send({'twice': 2 * message['content']['data']['number']}))\n"
        "get_ipython().kernel.comm_manager.register_target('double', opened)"
    )
    assert ran(client, code).status == "ok"
    send = client.session.send
    send(client.shell_channel.socket, "comm_open", {"comm_id": "c", "target_name": "double", "data": {}})
    send(client.shell_channel.socket, "comm_msg", {"comm_id": "c", "data": {"number": 21}})
    end = time.monotonic() + 20
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=20)
        if message["msg_type"] == "comm_msg":
            assert message["content"]["data"] == {"twice": 42}
            return
    raise AssertionError("no comm_msg came")


def test_a_variable_named_as_our_own_is_left_alone(shared: tuple[Any, Any]) -> None:
    ran(shared[1], "host = 'example.org'")
    assert ran(shared[1], "print(host)").text == "example.org\n"


def test_after_matplotlib_inline_a_figure_is_shown_once(shared: tuple[Any, Any]) -> None:
    code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    shown = [content["data"] for kind, content in ran(shared[1], code).shown if kind == "display_data"]
    assert [sorted(data) for data in shown] == [["image/png", "text/plain"]]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open('/etc/shadow')", "FileNotFoundError"),
        ("import os; os.listdir('/root/.ssh')", "FileNotFoundError"),
        ("import socket; socket.create_connection(('127.0.0.1', 1), 1)", "OSError"),
        ("open('/usr/bin/new', 'w')", "OSError"),
    ],
)
def test_it_is_as_isolated_as_a_session(code: str, error: str, shared: tuple[Any, Any]) -> None:
    found = ran(shared[1], f"try:\n    {code}\nexcept {error}: print('contained')\nelse: print('out')")
    assert found.text == "contained\n"


def test_it_sees_no_variable_of_the_client(monkeypatch: pytest.MonkeyPatch, kernel: tuple[Any, Any]) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-of-the-client")
    manager, client = kernel
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=20)
    code = (
        "from pathlib import Path\n"
        "def read(path):\n"
        "    try: return path.read_bytes()\n"
        "    except PermissionError: return b''\n"
        "print(any(b'sk-secret' in read(path) for path in Path('/proc').glob('[0-9]*/environ')))"
    )
    assert ran(client, code).text == "False\n"


def test_the_policy_of_the_kernelspec_holds(shared: tuple[Any, Any]) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    assert ran(shared[1], code).text == "100\n"


def test_nbclient_executes_a_notebook() -> None:
    import nbformat
    from nbclient import NotebookClient

    sources = (
        "print('text')",
        "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()",
        "raise ValueError('wanted')",
        "input('refused')",
        "class Table:\n    def _repr_html_(self): return '<table></table>'\nTable()",
    )
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for cell in cells[2:4]:
        cell.metadata["tags"] = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="sandbox", timeout=30).execute()
    text, figure, error, refused, table = (cell.outputs[0] for cell in notebook.cells)
    assert text["text"] == "text\n"
    assert "image/png" in figure["data"]
    assert error["ename"] == "ValueError"
    assert refused["ename"] == "StdinNotImplementedError"
    assert table["data"]["text/html"] == "<table></table>"


def test_kernels_of_one_policy_share_one_engine() -> None:
    engines = Engines()
    try:
        first = engines.get_or_start(policy_from({"processes": 90}))
        assert engines.get_or_start(Policy(processes=90)) is first
        assert engines.get_or_start(Policy(processes=91)) is not first
    finally:
        engines.close()
