"""Which tier of isolation is chosen, and that none is ever weaker than what was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from sandbox import IsolationError, KernelStartError, Policy, Sandbox
from sandbox.guest.landlock import landlock_abi
from sandbox.isolation.tiers import find_confinement
from sandbox.policy import Tier
from sandbox.runtime.engine import Engine, _announce


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: -1)


def test_the_strongest_tier_is_taken() -> None:
    found = find_confinement(Policy())
    assert (found.tier, found.instead_of) == ("bwrap", "")


@pytest.mark.usefixtures("without_bubblewrap")
@pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")
def test_without_bubblewrap_the_next_one_is_taken() -> None:
    found = find_confinement(Policy())
    assert found.tier == "landlock"
    assert found.instead_of == "bwrap: bubblewrap (bwrap) is not on PATH; install it: apt install bubblewrap"


@pytest.mark.usefixtures("without_bubblewrap")
@pytest.mark.skipif(not landlock_abi(), reason="this Linux has no Landlock")
def test_a_weaker_tier_is_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    _announce.cache_clear()
    for _ in range(2):
        Engine(Policy()).close()
    (message,) = caplog.messages
    assert message.startswith("cells run in the tier 'landlock' (bwrap: bubblewrap (bwrap) is not on PATH; ")


@pytest.mark.usefixtures("without_bubblewrap")
def test_a_tier_below_what_is_asked_for_is_refused() -> None:
    with pytest.raises(IsolationError, match=r"bubblewrap.*at_least='bwrap'"):
        find_confinement(Policy(at_least="bwrap"))


@pytest.mark.usefixtures("without_bubblewrap", "without_landlock")
@pytest.mark.parametrize("at_least", ["landlock", "none"])
def test_no_isolation_is_never_chosen(at_least: str) -> None:
    with pytest.raises(IsolationError, match=r"bwrap: .*; landlock: Linux .* offers no Landlock"):
        find_confinement(Policy(at_least=at_least))  # type: ignore[arg-type]  # one of the tiers


@pytest.mark.usefixtures("without_landlock")
def test_a_tier_that_was_named_is_not_replaced() -> None:
    with pytest.raises(IsolationError, match="no isolation: Linux"):
        find_confinement(Policy(isolation="landlock"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs cells as another user")
def test_root_that_cannot_measure_a_container_takes_the_next_tier() -> None:
    """So is root in a container without CAP_SYS_PTRACE, even if the container may make namespaces."""
    code = (
        "import sandbox.isolation.tiers as t; from sandbox import Policy; print(t.find_confinement(Policy()))"
    )
    done = subprocess.run(
        ["setpriv", "--bounding-set", "-sys_ptrace", sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "isolation='landlock'" in done.stdout, done.stderr
    assert "give it: docker run --cap-add SYS_PTRACE" in done.stdout


@pytest.mark.parametrize("isolation", ["auto", "bwrap", "landlock", "none"])
@pytest.mark.parametrize(
    ("system", "remedy"),
    [("Darwin", "on macOS run it in a Linux container"), ("Windows", "only through WSL2")],
)
def test_a_system_without_linux_is_answered_with_what_works_there(
    monkeypatch: pytest.MonkeyPatch, system: str, remedy: str, isolation: Tier | Literal["auto"]
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    with pytest.raises(IsolationError, match=remedy):
        find_confinement(Policy(isolation=isolation))


# What Python lacks on Windows. Its other differences are not imitated.
_WINDOWS = """
import os, platform, runpy, signal, socket, sys
for module, names in (
    (os, ("fork", "geteuid", "getuid", "memfd_create", "pidfd_open", "setsid")),
    (os, ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW")),
    (signal, ("SIGCHLD", "SIGHUP", "SIGKILL", "pidfd_send_signal")),
    (socket, ("AF_UNIX", "SCM_RIGHTS", "SOCK_SEQPACKET")),
):
    for name in names:
        delattr(module, name)
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
platform.system = lambda: "Windows"
"""


@pytest.mark.parametrize(
    "code",
    [
        "import sandbox\ntry: sandbox.Sandbox().open()\nexcept sandbox.IsolationError as error: sys.exit(f'{error}')",
        "sys.argv[1:] = ['check']\nrunpy.run_module('sandbox', run_name='__main__')",
    ],
    ids=["import sandbox", "python -m sandbox check"],
)
def test_windows_is_answered_in_one_line(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WINDOWS + code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.removeprefix("sandbox check: ").splitlines() == [
        "Windows is supported only through WSL2; install and run PyVision there"
    ]


@pytest.mark.parametrize("field", ["isolation", "at_least"])
def test_an_unknown_tier_is_answered_with_the_known_ones(field: str) -> None:
    with pytest.raises(ValueError, match=rf"Policy.{field}: 'docker' is not one of .*landlock"):
        Policy(**{field: "docker"})  # type: ignore[arg-type]  # what is tested


@pytest.fixture
def wrapper(tmp_path: Path) -> Path:
    """Stands for a sandbox of the user: it notes what it runs, and lowers its priority."""
    script = tmp_path / "wrapper"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/ran\nshift\nexec nice -n 7 "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    "isolation",
    ["bwrap", pytest.param("landlock", marks=pytest.mark.slow), pytest.param("none", marks=pytest.mark.slow)],
)
def test_an_external_sandbox_is_around_every_kernel(wrapper: Path, isolation: str) -> None:
    policy = Policy(isolation=isolation, wrap=(str(wrapper), "--option"))  # type: ignore[arg-type]  # a tier
    with Sandbox(policy) as sandbox, sandbox.open() as session:
        assert session.run("import os; print(os.getpriority(os.PRIO_PROCESS, 0))").text == "7\n"
        tier = sandbox.layers()[0]
    assert (wrapper.parent / "ran").read_text().startswith("--option ")
    assert f"{wrapper} --option" in tier.detail


@pytest.mark.parametrize("delay_s", [0, 0.3])  # it ends before, or after, the setup was sent to it
def test_an_external_sandbox_that_fails_is_quoted(tmp_path: Path, delay_s: float) -> None:
    script = tmp_path / "broken"
    script.write_text(f"#!/bin/sh\nsleep {delay_s}\necho 'broken: no permission' >&2\nexit 1\n")
    script.chmod(0o755)
    with Sandbox(Policy(wrap=(str(script),))) as sandbox, pytest.raises(KernelStartError, match="broken: no"):
        sandbox.open()


def test_an_external_sandbox_that_is_missing_is_named() -> None:
    with pytest.raises(IsolationError, match=r"Policy.wrap: 'no-such-sandbox'"):
        find_confinement(Policy(wrap=("no-such-sandbox",)))
