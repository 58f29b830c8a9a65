"""The landlock tier: no namespaces, and yet nothing of the host within reach, and nothing left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox, Session
from sandbox.guest.landlock import landlock_abi
from tests.sandbox.conftest import png
from tests.sandbox.isolation.test_process_tree import POLICY
from tests.sandbox.processes import alive, descendants, wait_until

pytestmark = pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")

ROOT = Path(__file__).parents[3]
LEAVE_PROCESSES = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pause()
    os._exit(0)
os.waitpid(child, 0)  # from here on the one that pauses is an orphan, and the only one left
"""


@pytest.fixture(scope="module")
def limited() -> Iterator[Sandbox]:
    with Sandbox(POLICY) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def session(limited: Sandbox) -> Iterator[Session]:
    with limited.open({"image_clue_0": png()}) as opened:
        yield opened


def raised(session: Session, code: str) -> str | None:
    error = session.run(code).error
    return error.name if error else None


def test_a_cell_shows_a_figure(session: Session) -> None:
    result = session.run("plt.imshow(image_clue_0); plt.show(); print(image_clue_0.size)")
    assert result.text == "(40, 30)\n"
    assert len(result.figures) == 1


def test_the_working_folder_can_be_written(session: Session) -> None:
    code = "import tempfile; open('kept', 'w').write('x'); tempfile.mkdtemp(); print(open('kept').read())"
    assert session.run(code).text == "x\n"


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp", "/usr"])
def test_no_other_folder_can_be_written(session: Session, place: str) -> None:
    assert raised(session, f"open('{place}/escape', 'w')") == "PermissionError"


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/1/environ", str(Path(__file__)), "/proc/1/cmdline"])
def test_no_file_of_the_host_can_be_read(session: Session, path: str) -> None:
    assert raised(session, f"open({path!r}).read()") == "PermissionError"


def test_the_images_of_another_session_cannot_be_read(limited: Sandbox, session: Session) -> None:
    with limited.open({"image_clue_0": png(colour="blue")}) as other:
        path = other.run("import os; print(os.path.realpath('image_clue_0.png'))").text.strip()
        assert raised(session, f"open({path!r}, 'rb').read()") == "PermissionError"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_socket_can_be_made(session: Session, family: str) -> None:
    assert raised(session, f"import socket; socket.socket(socket.{family})") == "PermissionError"


def test_a_pair_of_sockets_that_could_send_elsewhere_cannot_be_made(session: Session) -> None:
    code = "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"
    assert raised(session, code) == "PermissionError"
    assert raised(session, "import socket; socket.socketpair()") is None


def test_no_descriptor_can_be_sent(session: Session) -> None:
    code = "import socket; a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0])"
    assert raised(session, code) == "PermissionError"


def test_a_server_of_the_host_cannot_be_reached(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=3)"
        assert raised(session, code) == "PermissionError"


def test_the_host_cannot_be_signalled(session: Session) -> None:
    assert raised(session, f"import os; os.kill({os.getpid()}, 0)") == "PermissionError"


def test_a_child_of_the_cell_can_be_ended(session: Session) -> None:
    code = "import subprocess; child = subprocess.Popen(['sleep', '60']); child.kill(); print(child.wait())"
    assert session.run(code).text == "-9\n"


def test_the_rights_of_a_file_of_the_host_stay(session: Session) -> None:
    with tempfile.NamedTemporaryFile() as file:
        before = Path(file.name).stat().st_mode
        session.run(f"import os; os.chmod({file.name!r}, 0o777)")
        assert Path(file.name).stat().st_mode == before


def test_a_detached_process_ends_with_its_session(limited: Sandbox) -> None:
    with limited.open() as opened:
        before = descendants(os.getpid())
        opened.run(LEAVE_PROCESSES)
        left = {pid: start for pid, start in descendants(os.getpid()).items() if pid not in before}
        assert alive(left)
    assert wait_until(lambda: not alive(left))


def test_the_sessions_of_a_zygote_that_is_killed_end_with_it() -> None:
    with Sandbox(Policy(isolation="landlock")) as sandbox, sandbox.open() as opened:
        assert sandbox._engine is not None
        opened.run(LEAVE_PROCESSES)
        started = descendants(os.getpid())
        zygote = sandbox._engine._zygote._process
        below = {pid: start for pid, start in descendants(zygote.pid).items() if pid in started}
        zygote.kill()
        assert below
        assert wait_until(lambda: not alive(below))


def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom sandbox import Policy, Sandbox\n"
        "session = Sandbox(Policy(isolation='landlock')).open()\n"
        f"session.run({LEAVE_PROCESSES!r})\nprint('ready', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        started = descendants(host.pid)
        host.kill()
    assert started
    assert wait_until(lambda: not alive(started))


def test_folders_that_cannot_be_entered_are_removed_with_the_session(limited: Sandbox) -> None:
    with limited.open() as opened:
        folder = Path(opened.run("import os; print(os.getcwd())").text.strip())
        opened.run("os.mkdir('a', 0)\nfor _ in range(200):\n    os.mkdir('b'); os.chdir('b')")
    assert not folder.parent.exists()


def test_the_report_names_the_tier(limited: Sandbox) -> None:
    layers = {layer.name: layer for layer in limited.layers()}
    assert layers["tier"].detail.startswith("landlock: ")
    assert "not covered" in layers["tier"].detail
    assert not layers["namespaces"].is_present


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that every user may write, in a folder that cells may read."""
    path = tmp_path_factory.mktemp("modules") / "module.py"
    path.write_text("kept = 1")
    path.chmod(0o666)
    return path


@pytest.fixture(
    scope="module",
    params=[1, pytest.param(2, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)],
)
def older(request: pytest.FixtureRequest, writable: Path) -> Iterator[Session]:
    """A session that uses no more of Landlock than an older Linux offers."""
    policy = Policy(isolation="landlock", cell_timeout_s=20, modules=(str(writable.parent),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: request.param)
        with Sandbox(policy) as sandbox, sandbox.open() as opened:
            yield opened


@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(HOST, 0)",
        "os.kill(-GROUP, 0)",
        "signal.pidfd_send_signal(os.pidfd_open(HOST), 0)",
        "open('/etc/passwd').read()",
        "open('/tmp/escape', 'w')",
        "open(MODULE, 'w')",
        "os.open(MODULE, os.O_RDONLY | os.O_TRUNC)",
        "os.truncate(MODULE, 0)",
        "socket.socket()",
    ],
)
def test_an_older_landlock_leaves_no_more_open(older: Session, writable: Path, attempt: str) -> None:
    names = f"HOST, GROUP, MODULE = {os.getpid()}, {os.getpgrp()}, {str(writable)!r}"
    assert raised(older, f"import os, signal, socket; {names}; {attempt}") == "PermissionError"
    assert writable.read_text() == "kept = 1"


def test_under_an_older_landlock_a_cell_can_signal_itself(older: Session) -> None:
    handle = "signal.signal(signal.SIGUSR2, lambda *_: print('got it'))"
    assert older.run(f"import os, signal; {handle}; os.kill(os.getpid(), signal.SIGUSR2)").text == "got it\n"
