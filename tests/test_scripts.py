"""`scripts/setup` and `scripts/check` on a made-up machine, whose tools are scripts of these tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.processes import alive, descendants, wait_until

SETUP = Path(__file__).parents[1] / "scripts" / "setup"
CHECK = SETUP.with_name("check")
_MANY_LINES = "for line in $(seq 50000); do echo $line; done"  # of other libraries: more than a pipe holds
_NO_VLLM = "vLLM needs a GPU of NVIDIA or a processor with AVX-512; this machine has neither"
_PYTHONS = ("python3", *(f"python3.{minor}" for minor in (11, 12, 13, 14)))


def set_up(folder: Path, libraries: str) -> str:
    """What it says where there is no Python at all, at which it ends after it has looked for the rest."""
    (folder / "scripts").mkdir()
    shutil.copy(SETUP, folder / "scripts")
    programs = folder / "bin"
    programs.mkdir()
    says_no = dict.fromkeys((*_PYTHONS, "uv"), "exit 1")
    for name, body in {"bwrap": ":", "apt-get": ":", "sudo": ":", "ldconfig": libraries, **says_no}.items():
        (programs / name).write_text(f"#!/bin/bash\n{body}\n")
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(
        ["bash", str(folder / "scripts" / "setup"), "run"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("libraries", "installs"),
    [
        (f"echo 'libseccomp.so.2 (libc6,x86-64)'; {_MANY_LINES}", False),
        (f"{_MANY_LINES}; echo 'libseccomp.so.2 (libc6,x86-64)'", False),
        (_MANY_LINES, True),
    ],
)
def test_a_library_is_installed_only_where_it_is_missing(
    tmp_path: Path, libraries: str, *, installs: bool
) -> None:
    assert ("installing libseccomp2" in set_up(tmp_path, libraries)) == installs


@pytest.mark.parametrize(
    ("flags", "gpu", "says"),
    [
        ("fpu avx2", "exit 9", f"setup: {_NO_VLLM}\n"),
        ("fpu avx2 avx512f", "exit 9", ""),
        ("fpu", "echo 'GPU 0: a card'", ""),
    ],
)
def test_a_machine_that_cannot_run_vllm_is_named_in_one_line(
    tmp_path: Path, flags: str, gpu: str, says: str
) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(SETUP, tmp_path / "scripts")
    for name, body in {"nvidia-smi": gpu, "bwrap": "exit", "ldconfig": "echo libseccomp.so.2"}.items():
        _script(tmp_path / name, body)
    venv = tmp_path / ".venv-vllm"
    (venv / "bin").mkdir(parents=True)
    _script(venv / "bin" / "python", ":")
    (venv / ".set-up-vllm").write_text(str(tmp_path))
    (tmp_path / "cpuinfo").write_text(f"flags\t: {flags}\n")
    done = subprocess.run(
        ["bash", str(tmp_path / "scripts" / "setup"), "vllm"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "CPUINFO": str(tmp_path / "cpuinfo")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (69 if says else 0, says)


def install_to_train(folder: Path, gpu: str, versions: str) -> str:
    """What `scripts/setup train` gives to pip. gpu: what nvidia-smi does; versions: what pip lists of torch."""
    (folder / "scripts").mkdir()
    shutil.copy(SETUP, folder / "scripts")
    (folder / ".venv-train" / "bin").mkdir(parents=True)
    log = folder / "log"
    pip = f'[[ $3 == index ]] && echo "{versions}"; [[ $3 == install ]] && echo "$@" >> {log}; exit 0'
    _script(folder / ".venv-train" / "bin" / "python", pip)
    programs = {"nvidia-smi": gpu, "bwrap": "exit", "ldconfig": "echo libseccomp.so.2"}
    for name, body in programs.items():
        _script(folder / name, body)
    system = folder / "system"  # without uv
    system.mkdir()
    for name in ("bash", "dirname", "grep", "env"):
        (system / name).symlink_to(shutil.which(name) or "")
    subprocess.run(
        ["bash", str(folder / "scripts" / "setup"), "train"],
        env={"PATH": f"{folder}:{system}"},
        timeout=60,
        check=True,
    )
    return log.read_text()


@pytest.mark.parametrize(
    ("gpu", "versions", "torch"),
    [
        ("exit 9", "torch (2.15.0) Available versions: 2.15.0, 2.13.0+cpu, 2.12.0+cpu", "torch==2.13.0+cpu"),
        ("exit 9", "torch (2.15.0) Available versions: 2.15.0, 2.14.1", None),
        ("echo 'GPU 0: a card'", "torch (2.13.0+cpu) Available versions: 2.13.0+cpu", None),
    ],
)
def test_a_machine_without_a_gpu_gets_the_torch_for_processors(
    tmp_path: Path, gpu: str, versions: str, torch: str | None
) -> None:
    *first, last = install_to_train(tmp_path, gpu, versions).splitlines()
    assert [line.rpartition(" ")[2] for line in first] == ([torch] if torch else [])
    assert last.endswith("--editable .[dev,train]")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with `scripts/check`, in which every tool is a script that succeeds."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(CHECK, tmp_path / "scripts")
    _script(tmp_path / "scripts" / "setup", ":")
    _tools(tmp_path)
    return tmp_path


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


def _tools(checkout: Path, *, ruff: str = ":", mypy: str = ":", pytest: str = ":") -> None:
    """Make the tools do as these lines of bash say."""
    _script(checkout / ".venv" / "bin" / "ruff", ruff)
    _script(checkout / ".venv" / "bin" / "python", f"if [[ $2 == mypy ]]; then {mypy}; else {pytest}; fi")


def check(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "scripts" / "check", *arguments],
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_check_in_which_nothing_fails_succeeds(checkout: Path) -> None:
    assert check(checkout).returncode == 0


@pytest.mark.parametrize(("tool", "name"), [("ruff", "lint"), ("mypy", "types"), ("pytest", "tests")])
def test_a_check_fails_if_one_tool_fails(checkout: Path, tool: str, name: str) -> None:
    _tools(checkout, **{tool: "exit 1"})
    done = check(checkout)
    assert (done.returncode, done.stderr) == (1, f"check: failed: {name}\n")


def test_the_outputs_of_the_tools_are_not_mixed(checkout: Path) -> None:
    says = "for n in 1 2 3; do echo {0}; sleep 0.01; echo {0} >&2; done"
    _tools(checkout, ruff=says.format("lint"), mypy=says.format("types"), pytest=says.format("tests"))
    done = check(checkout)
    assert "types\n" * 6 + "lint\n" * 12 in done.stdout


def test_a_check_leaves_the_slow_tests_out(checkout: Path) -> None:
    _tools(checkout, pytest='echo "$@"')
    assert "or slow)" in check(checkout).stdout


def test_a_check_with_slow_set_runs_the_slow_tests(checkout: Path) -> None:
    _tools(checkout, pytest='echo "$@"')
    assert "slow" not in check(checkout, SLOW="1").stdout


def test_the_arguments_of_a_check_go_to_pytest(checkout: Path) -> None:
    _tools(checkout, pytest='echo "$@"')
    assert check(checkout, "-k", "some name").stdout.endswith("-k some name\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_ends_all_tools(checkout: Path, number: signal.Signals) -> None:
    running = {tool: checkout / tool for tool in ("ruff", "mypy", "pytest")}
    _tools(checkout, **{tool: f"touch {file}; sleep 600" for tool, file in running.items()})
    started = subprocess.Popen([checkout / "scripts" / "check"])
    assert wait_until(lambda: all(file.exists() for file in running.values()))
    below = descendants(started.pid)
    try:
        started.send_signal(number)
        assert started.wait(60) == 130
        assert wait_until(lambda: not alive(below))
    finally:
        started.kill()
        for pid in alive(below):
            os.kill(pid, signal.SIGKILL)
