"""What code in a cell must not be able to do, tried from inside."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox, Session
from sandbox.isolation.cleanup import UserId
from sandbox.policy import MIB

SECRET = "sk-fake-5f0c2b9e77"
LIMITS = Policy(
    cell_timeout_s=20,
    memory_bytes=1024 * MIB,
    processes=60,
    file_bytes=8 * MIB,
    disk_bytes=32 * MIB,
    disk_files=500,
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", SECRET)
        with Sandbox(LIMITS) as sandbox, sandbox.open({}) as opened:
            yield opened


def raised(session: Session, code: str) -> str | None:
    error = session.run(code).error
    return error.name if error else None


def test_no_other_machine_can_be_reached(session: Session) -> None:
    assert (
        session.run("import socket; print(sorted(name for _, name in socket.if_nameindex()))").text
        == "['lo']\n"
    )
    connect = "socket.create_connection(('192.0.2.1', 80), timeout=3)"
    assert raised(session, f"import socket; {connect}") == "OSError"


def test_the_loopback_of_the_host_is_unreachable(session: Session) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=3)"
        assert raised(session, code) == "ConnectionRefusedError"


def test_a_secret_of_the_hosts_environment_is_nowhere_inside(session: Session) -> None:
    look = (
        "import os, pathlib\n"
        "texts = [repr(dict(os.environ))]\n"
        "for name in ('environ', 'cmdline', 'maps'):\n"
        "    for path in pathlib.Path('/proc').glob(f'[0-9]*/{name}'):\n"
        "        try: texts.append(path.read_bytes().decode(errors='replace'))\n"
        "        except OSError: pass\n"
        "print(len(texts) > 3, any('fake-5f0c2b' in text for text in texts))"
    )
    assert os.environ["OPENAI_API_KEY"] == SECRET
    assert session.run(look).text == "True False\n"


def test_the_hosts_processes_are_not_seen(session: Session) -> None:
    count = "import pathlib; print(len(list(pathlib.Path('/proc').glob('[0-9]*'))) < 6)"
    assert session.run(count).text == "True\n"


def test_files_of_the_host_are_not_there(session: Session) -> None:
    project, home = Path(__file__).resolve().parents[3], Path.home()
    for path in (
        project / "pyproject.toml",
        project / "sandbox",
        home / ".bashrc",
        home / ".ssh",
        "/var",
        "/etc/shadow",
    ):
        assert session.run(f"import os; print(os.path.exists({str(path)!r}))").text == "False\n"


def test_the_code_has_no_rights_to_lose(session: Session) -> None:
    status = session.run("import os; print(os.getuid() != 0, open('/proc/self/status').read())").text
    assert status.startswith("True")
    assert "CapEff:\t0000000000000000" in status
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status


def test_the_process_runs_under_an_unprivileged_user_of_the_host(session: Session) -> None:
    session.run("import subprocess, sys; child = subprocess.Popen(['sleep', '31.25'])")
    owners = {
        path.stat().st_uid for path in Path("/proc").glob("[0-9]*") if _command(path) == b"sleep\x0031.25\x00"
    }
    session.run("child.kill(); child.wait()")
    assert len(owners) == 1
    assert 0 not in owners


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""  # it ended meanwhile


@pytest.mark.parametrize(
    "path",
    [
        "/usr/x",
        "/etc/x",
        "/x",
        "/opt/x",
        "/opt/room/images/x",
        "/dev/x",
        f"{sys.prefix}/x",
        "/proc/sys/kernel/core_pattern",
    ],
)
def test_nothing_but_tmp_can_be_written(session: Session, path: str) -> None:
    assert raised(session, f"open({path!r}, 'w')") in {"OSError", "PermissionError"}


def test_only_mounts_of_the_container_are_writable_or_hold_devices(session: Session) -> None:
    lines = session.run("print(open('/proc/self/mounts').read())").text.split("\n")
    mounts = {line.split()[1]: line.split()[3].split(",") for line in lines if line.strip()}
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    hidden = {"/proc/keys", "/proc/key-users", "/proc/config.gz", "/proc/cmdline", "/proc/kallsyms"}
    writable = {place for place, options in mounts.items() if "rw" in options}
    assert writable | {"/dev/zero"} == {"/proc", "/tmp", "/dev/shm", *devices}  # not there without cgroups
    assert {place for place, options in mounts.items() if "nodev" not in options} <= devices | hidden
    assert all("nosuid" in options for options in mounts.values())


@pytest.mark.parametrize("path", ["a.txt", "/tmp/b"])
def test_a_folder_of_the_session_can_be_written(session: Session, path: str) -> None:
    assert session.run(f"open({path!r}, 'w').write('x'); print(open({path!r}).read())").text == "x\n"


def test_no_new_user_namespace_can_be_made(session: Session) -> None:
    code = "import ctypes; print(ctypes.CDLL(None, use_errno=True).unshare(0x10000000))"
    assert session.run(code).text == "-1\n"


def test_memory_is_limited(session: Session) -> None:
    assert raised(session, "block = bytearray(2 * 1024**3)") == "MemoryError"


def test_the_kernel_outlives_its_memory_limit(session: Session) -> None:
    session.run("alive = 1")
    session.run("block = bytearray(2 * 1024**3)")
    assert session.run("print(alive)").text == "1\n"


def test_processes_are_limited(session: Session) -> None:
    bomb = (
        "import subprocess\nchildren = []\n"
        "try:\n    for _ in range(200): children.append(subprocess.Popen(['sleep', '30']))\n"
        "except OSError as error: print(type(error).__name__, len(children) < 60)\n"
        "for child in children: child.kill()\n"
        "for child in children: child.wait()"
    )
    assert session.run(bomb).text == "BlockingIOError True\n"


def test_the_size_of_a_file_is_limited(session: Session) -> None:
    assert raised(session, "with open('big', 'wb') as big: big.write(bytes(16 * 2**20))") == "OSError"
    assert (
        session.run("import os; print(os.path.getsize('big') <= 8 * 2**20); os.remove('big')").text
        == "True\n"
    )


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_the_number_of_files_is_limited_though_they_are_empty(session: Session, folder: str) -> None:
    result = session.run(f"for k in range(600): open(f'{folder}/empty{{k}}', 'w').close()")
    assert result.error is not None
    assert "No space left on device" in result.error.message
    session.run(f"import glob, os; made = glob.glob('{folder}/empty*')")
    count = "print(len(made))\nfor path in made: os.remove(path)"
    assert 450 < int(session.run(count).text) < 500


def test_files_can_be_made_again_where_others_were_removed(session: Session) -> None:
    code = "for k in range(1_000): open('one', 'w').close(); os.remove('one')"
    assert raised(session, f"import os\n{code}") is None


def test_the_disk_is_limited(session: Session) -> None:
    code = "for k in range(9):\n    with open(f'/tmp/part{k}', 'wb') as part: part.write(bytes(7 * 2**20))"
    assert raised(session, code) == "OSError"
    session.run("import glob, os\nfor path in glob.glob('/tmp/part*'): os.remove(path)")


def test_shared_memory_is_limited_too(session: Session) -> None:
    code = (
        "for k in range(9):\n    with open(f'/dev/shm/part{k}', 'wb') as part: part.write(bytes(7 * 2**20))"
    )
    assert raised(session, code) == "OSError"
    session.run("import glob, os\nfor path in glob.glob('/dev/shm/part*'): os.remove(path)")


def test_two_sessions_do_not_see_each_others_files(sandbox: Sandbox, session: Session) -> None:
    session.run("open('/tmp/mine', 'w').write('x')")
    with sandbox.open({}) as other:
        assert other.run("import os; print(os.path.exists('/tmp/mine'))").text == "False\n"


def test_messages_forged_by_a_cell_do_not_confuse_the_next_one(session: Session) -> None:
    forge = (
        "kernel = get_ipython().kernel\n"
        "idle = {'execution_state': 'idle'}\n"
        "for kind, content in (('stream', {'name': 5, 'text': []}), ('status', idle), ('error', {})):\n"
        "    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())\n"
        "print('end')"
    )
    session.run(forge)
    assert session.run("print('next')").text == "next\n"


def test_a_flood_of_output_neither_fills_the_host_nor_outlasts_the_deadline() -> None:
    import resource

    policy = Policy(cell_timeout_s=2, interrupt_grace_s=1, output_chars=10_000)
    with Sandbox(policy) as sandbox, sandbox.open({}) as session:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = session.run("while True: print('y' * 1000)")
        assert result.status == "timeout"
        assert 10_000 <= len(result.text) < 10_100
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


@pytest.mark.skipif(os.getuid() != 0, reason="only root hands out user ids")
def test_live_containers_have_different_user_ids() -> None:
    ids = [UserId() for _ in range(50)]
    assert len({user.number for user in ids}) == 50
    for user in ids:
        user.close()
