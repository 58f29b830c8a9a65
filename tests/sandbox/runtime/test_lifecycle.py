"""What starts with a Sandbox ends with it, however it or its host ends."""

from __future__ import annotations

import os
import resource
import signal
import site
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import ImageError, KernelStartError, Policy, Sandbox, SandboxBusy, Session
from tests.sandbox.conftest import png
from tests.sandbox.processes import alive, descendants, wait_until

pytestmark = pytest.mark.early

SHORT = Policy(cell_timeout_s=1.0, interrupt_grace_s=0.5)
_HOST = """
import sys, tempfile
from sandbox import Sandbox
tempfile.gettempdir()  # Python tries the folder with a file, which a kill at that moment would leave there
print("began", flush=True)
sandbox = Sandbox(spare=1)
session = sandbox.open({"image_clue_0": sys.argv[1]})
session.run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
print("ready", flush=True)
session.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\\nwhile True: pass")
"""


def test_after_a_sandbox_no_process_file_or_descriptor_is_left(
    short_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(short_temp))
    before, files = set(descendants(os.getpid())), len(list(Path("/proc/self/fd").iterdir()))
    with Sandbox(SHORT, spare=1) as sandbox:
        first = sandbox.open({"image_clue_0": png()})
        first.run("import subprocess; subprocess.Popen(['sleep', '60']); import os; os._exit(1)")
        first.run("1")
        sandbox.open({}).run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
        assert set(descendants(os.getpid())) - before
        assert len(list(short_temp.iterdir())) == 1
    assert not set(descendants(os.getpid())) - before
    assert len(list(Path("/proc/self/fd").iterdir())) <= files
    assert list(short_temp.iterdir()) == []


def test_a_closed_session_leaves_nothing_in_a_running_sandbox(
    short_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(short_temp))
    with Sandbox(SHORT) as sandbox:
        sandbox.open({}).close()
        before = set(descendants(os.getpid())), sorted(short_temp.rglob("*"))
        session = sandbox.open({"image_clue_0": png()})
        session.run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
        session.close()
        assert wait_until(lambda: set(descendants(os.getpid())) <= before[0])
        assert sorted(short_temp.rglob("*")) == before[1]


@pytest.mark.parametrize(
    "moment_s",
    [None, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.2))],
)
def test_a_host_that_is_killed_leaves_nothing(short_temp: Path, moment_s: float | None) -> None:
    """At any moment of the start, and (None) in the middle of a cell that ignores its interruption."""
    image = short_temp / "photo.png"
    image.write_bytes(png())
    left = short_temp / "temp"
    left.mkdir()
    host = subprocess.Popen(
        [sys.executable, "-c", _HOST, str(image)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TMPDIR": str(left)},
    )
    with host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"began\n"
        if moment_s is None:
            assert host.stdout.readline() == b"ready\n"
        time.sleep(moment_s or 0.1)
        family = descendants(host.pid)
        host.send_signal(signal.SIGKILL)
        host.wait()
        assert wait_until(lambda: not alive(family)), family
        assert wait_until(lambda: not list(left.iterdir())), list(left.rglob("*"))


def test_a_killed_zygote_is_replaced() -> None:
    with Sandbox(SHORT) as sandbox:
        session = sandbox.open({"image_clue_0": png()})
        assert session.run("x = 1").status == "ok"
        kill_zygote(sandbox)
        assert session.run("x").status == "died"
        assert session.run("image_clue_0.size").text == "(40, 30)\n"
        with sandbox.open({}) as other:
            assert other.run("print(6 * 7)").text == "42\n"


def kill_zygote(sandbox: Sandbox) -> None:
    engine = sandbox._engine
    assert engine is not None
    zygote = engine._zygote
    signal.pidfd_send_signal(zygote._pidfd, signal.SIGKILL)
    assert wait_until(lambda: not zygote.is_alive)


def test_a_warm_kernel_that_died_is_not_used() -> None:
    with Sandbox(SHORT, spare=1) as sandbox:
        sandbox.open({}).close()
        warm_pool = sandbox._warm_pool
        assert warm_pool is not None
        assert wait_until(lambda: len(warm_pool._ready) == 1)
        warm_pool._ready[0].kill()
        assert wait_until(lambda: not warm_pool._ready[0].is_alive())
        with sandbox.open({}) as session:
            assert session.run("print(6 * 7)").text == "42\n"


@pytest.fixture(scope="module")
def single() -> Iterator[Sandbox]:
    """A sandbox with one session at a time."""
    with Sandbox(SHORT, max_sessions=1, acquire_timeout_s=0.2) as sandbox:
        yield sandbox


def test_no_session_becoming_free_in_time_is_an_error(single: Sandbox) -> None:
    with single.open({}), pytest.raises(SandboxBusy, match="max_sessions"):
        single.open({})


def test_a_failed_open_releases_its_session(single: Sandbox) -> None:
    for _ in range(2):
        with pytest.raises(ImageError):
            single.open({"image_clue_0": b"no picture"})
    single.open({}).close()


def run_in(session: Session, code: str) -> str:
    result = session.run(code)
    assert result.status == "ok", result
    return result.text


def opened_with_a_warning(sandbox: Sandbox) -> Session:
    with pytest.warns(UserWarning, match="without isolation"):
        return sandbox.open({"image_clue_0": png()})


@pytest.fixture(scope="module")
def unisolated() -> Iterator[Session]:
    with Sandbox(Policy(isolation="none")) as sandbox, opened_with_a_warning(sandbox) as session:
        yield session


def test_without_isolation_cells_run_as_the_caller(unisolated: Session) -> None:
    assert run_in(unisolated, "import os; print(os.getuid())") == f"{os.getuid()}\n"
    assert run_in(unisolated, "print(image_clue_0.size)") == "(40, 30)\n"
    assert unisolated.run("import time; time.sleep(0.1); os._exit(1)").status == "died"


def test_without_isolation_the_other_processes_of_the_user_do_not_count(unisolated: Session) -> None:
    output = run_in(unisolated, "import resource; print(*resource.getrlimit(resource.RLIMIT_NPROC))")
    assert output.split() == [str(limit) for limit in resource.getrlimit(resource.RLIMIT_NPROC)]


def test_without_isolation_the_group_of_a_kernel_ends_with_it() -> None:
    before = set(descendants(os.getpid()))
    with Sandbox(Policy(isolation="none")) as sandbox:
        opened_with_a_warning(sandbox).run("import subprocess; subprocess.Popen(['sleep', '60'])")
    assert wait_until(lambda: set(descendants(os.getpid())) <= before)


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs cells as another user")
def test_a_folder_that_the_user_of_cells_cannot_enter_is_named() -> None:
    with Sandbox() as sandbox:
        sandbox.open().close()
        assert sandbox._engine is not None
        sandbox._engine._sessions.chmod(0o700)
        with pytest.raises(
            KernelStartError, match=r"Permission denied.*; if .* set TMPDIR to a folder on a local disk"
        ):
            sandbox.open()


def test_a_container_that_cannot_be_built_leaves_no_process(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        assert sandbox._engine is not None
        before = set(descendants(os.getpid()))
        with pytest.raises(
            KernelStartError, match="the container did not start: bwrap: Can't find source path"
        ):
            sandbox._engine.start(Path("/nowhere"))
        assert wait_until(lambda: set(descendants(os.getpid())) <= before)
        assert run_in(session, "print('well')") == "well\n"
        with sandbox.open() as another:
            assert run_in(another, "print('well too')") == "well too\n"


@pytest.fixture(scope="module")
def custom() -> Iterator[Session]:
    policy = Policy(python=sys.executable, preload=("colorsys",))
    with Sandbox(policy) as sandbox, sandbox.open({}) as session:
        yield session


def test_another_interpreter_runs_the_cells(custom: Session) -> None:
    assert run_in(custom, "import sys; print(sys.executable)") == f"{sys.executable}\n"


@pytest.mark.slow
def test_another_interpreter_may_lie_on_a_tmpfs_of_the_container(tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp")
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (packages / "late.py").write_text("told = 'found'")
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    python = str(tmp_path / "env" / "bin" / "python")
    with Sandbox(Policy(python=python)) as sandbox, sandbox.open({}) as session:
        assert run_in(session, "import late; print(late.told)") == "found\n"


def test_modules_can_be_imported_once_for_all(custom: Session) -> None:
    assert run_in(custom, "import sys; print('colorsys' in sys.modules)") == "True\n"
