from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox import IsolationError, Policy, Sandbox
from sandbox.isolation.apparmor import build_profile
from sandbox.isolation.bubblewrap import Bubblewrap, _find_remedy
from sandbox.isolation.confinement import Confinement
from sandbox.isolation.interpreter import Interpreter

INTERPRETER = Interpreter("/home/me/venv/bin/python", ("/home/me/venv",), ())
BWRAP = Policy(isolation="bwrap")
SESSIONS = Path("/private/sessions")


def confinement(*, setpriv: str | None = None, policy: Policy | None = None) -> Bubblewrap:
    policy = policy or Policy(isolation="bwrap")
    fonts = (Path("/cache/fontlist-v3.json"),)
    return Bubblewrap(policy, INTERPRETER, fonts, bwrap="/usr/bin/bwrap", setpriv=setpriv)


def container(policy: Policy | None = None) -> list[str]:
    arguments: list[str] = confinement(policy=policy).setup()["arguments"]
    return arguments


def has(argv: list[str], *expected: str) -> bool:
    return any(tuple(argv[at : at + len(expected)]) == expected for at in range(len(argv)))


def test_a_container_shares_nothing() -> None:
    for flag in ("--unshare-all", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"):
        assert flag in container()
    assert has(container(), "--cap-drop", "ALL")


def test_only_the_temporary_file_systems_of_a_container_are_writable() -> None:
    argv = container(Policy(disk_bytes=123_456))
    assert has(argv, "--size", "123456", "--tmpfs", "/tmp")
    assert has(argv, "--dev-bind", "/opt/room/tree", "/")  # read-only where it was put together
    assert "--bind" not in argv


def test_the_tree_of_all_containers_is_assembled_read_only() -> None:
    argv = confinement().zygote_command(SESSIONS, 1234, 9)
    assert has(argv, "--ro-bind", "/usr", "/opt/room/tree/usr")
    assert has(argv, "--ro-bind", "/home/me/venv", "/opt/room/tree/home/me/venv")
    assert has(argv, "--perms", "0755", "--dir", "/opt/room/tree/opt/room/images")
    assert has(argv, "--remount-ro", "/")
    assert not [word for word in argv if word.startswith("/opt/room/tree/opt/room/") and "images" not in word]


def test_an_interpreter_below_tmp_is_shown_in_the_tmp_of_each_container() -> None:
    interpreter = Interpreter("/tmp/venv/bin/python", ("/home/me/python", "/tmp/venv"), ())
    found = Bubblewrap(Policy(isolation="bwrap"), interpreter, bwrap="/usr/bin/bwrap")
    setup, confinement = found.setup(), found.zygote_command(SESSIONS, 1234, 9)
    mounted, shown = setup["arguments"].index("/tmp"), setup["arguments"].index("/tmp/venv")
    assert mounted < shown
    assert has(setup["arguments"], "--ro-bind", "/tmp/venv", "/tmp/venv")
    assert has(confinement, "--ro-bind", "/tmp/venv", "/tmp/venv")
    assert "/opt/room/tree/home/me/python" in confinement
    assert "/opt/room/tree/tmp/venv" not in confinement


def test_a_container_shows_the_images_of_its_own_session_alone() -> None:
    mounts = confinement().session_mounts(SESSIONS / "7")
    assert mounts == ["--ro-bind", "/opt/room/sessions/7", "/opt/room/images"]
    assert not has(container(), "/opt/room/sessions")


def test_the_zygote_of_an_ordinary_user_is_in_an_outer_container() -> None:
    argv = confinement().zygote_command(SESSIONS, 1234, 9)
    assert argv[:2] == ["/usr/bin/bwrap", "--unshare-user"]
    assert has(argv, "--ro-bind", str(SESSIONS), "/opt/room/sessions")
    assert "--reuid" not in argv


def test_root_gives_up_its_rights_before_the_zygote_starts() -> None:
    argv = confinement(setpriv="/usr/bin/setpriv").zygote_command(SESSIONS, 1234, 9)
    drop, python = argv.index("/usr/bin/setpriv"), argv.index(INTERPRETER.executable)
    assert has(argv[drop:python], "--reuid", "1234", "--regid", "1234", "--clear-groups")
    assert "--no-new-privs" in argv[drop:python]
    assert "--unshare-user" not in argv  # in it, root would still be root


def test_without_isolation_the_zygote_has_no_outer_container() -> None:
    argv = Confinement(Policy(isolation="none"), INTERPRETER).zygote_command(SESSIONS, 1234, 9)
    assert argv[0] == INTERPRETER.executable


def test_the_interpreter_brings_no_folder_below_usr() -> None:
    assert not [folder for folder in Interpreter.current().folders if Path(folder).is_relative_to("/usr")]


def test_the_interpreter_brings_no_folder_twice() -> None:
    folders = [Path(folder) for folder in Interpreter.current().folders]
    assert not [(a, b) for a in folders for b in folders if a != b and a.is_relative_to(b)]


def test_without_bubblewrap_opening_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with Sandbox(BWRAP) as sandbox, pytest.raises(IsolationError, match="apt install bubblewrap"):
        sandbox.open({})


def stand_in(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = folder / "bwrap"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_machine_without_user_namespaces_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = (
        'case "$1" in --version) echo bubblewrap 0.9.0;; *) echo "bwrap: No permissions" >&2; exit 1;; esac'
    )
    stand_in(tmp_path, says, monkeypatch)
    with (
        Sandbox(BWRAP) as sandbox,
        pytest.raises(IsolationError, match=r"no isolation: bwrap: No permissions; .+"),
    ):
        sandbox.open({})


def test_the_remedy_for_apparmor_is_a_profile_of_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.isolation.bubblewrap._sysctl", lambda name: "1")
    remedy = _find_remedy("/opt/bin/bwrap")
    assert remedy.startswith("AppArmor denies /opt/bin/bwrap user namespaces; ")
    assert remedy.endswith("-m sandbox apparmor")
    assert "sysctl" not in remedy


def test_the_profile_allows_namespaces_to_one_program_alone() -> None:
    rules = [line.strip() for line in build_profile("/opt/bin/bwrap").splitlines() if "{" not in line]
    assert "profile pyvision-bwrap /opt/bin/bwrap flags=(unconfined) {" in build_profile("/opt/bin/bwrap")
    assert [line for line in rules if line.endswith(",")] == ["abi <abi/4.0>,", "userns,"]


def test_an_old_bubblewrap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "echo bubblewrap 0.4.1", monkeypatch)
    with Sandbox(BWRAP) as sandbox, pytest.raises(IsolationError, match=r"0\.8 or newer"):
        sandbox.open({})
