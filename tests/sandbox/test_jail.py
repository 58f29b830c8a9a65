from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox import IsolationError, Policy, Sandbox
from sandbox.interpreter import Interpreter
from sandbox.jail import Jail, Mount

INTERPRETER = Interpreter("/home/me/venv/bin/python", ("/home/me/venv",), ())
MOUNT = Mount(Path("/private/images"), "/opt/room/images")


def command(*, setpriv: str | None = None, policy: Policy | None = None) -> list[str]:
    return Jail("/usr/bin/bwrap", setpriv, policy or Policy(), INTERPRETER).command(
        (MOUNT,), 1234, 9, "python", "-I"
    )


def has(argv: list[str], *expected: str) -> bool:
    return any(tuple(argv[at : at + len(expected)]) == expected for at in range(len(argv)))


def test_an_ordinary_user_gets_one_room_with_nothing_shared() -> None:
    argv = command()
    assert argv.count("/usr/bin/bwrap") == 1
    for flag in ("--unshare-all", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"):
        assert flag in argv
    assert has(argv, "--cap-drop", "ALL")
    assert argv[-3:] == ["--", "python", "-I"]


def test_root_gives_up_its_rights_between_an_outer_and_an_inner_room() -> None:
    argv = command(setpriv="/usr/bin/setpriv")
    outer, inner = (at for at, word in enumerate(argv) if word == "/usr/bin/bwrap")
    drop = argv.index("/usr/bin/setpriv")
    assert outer < drop < inner
    assert has(argv[drop:inner], "--reuid", "1234", "--regid", "1234", "--clear-groups")
    assert "--no-new-privs" in argv[drop:inner]
    assert "--unshare-all" not in argv[outer:inner]


def test_only_the_temporary_file_systems_are_writable() -> None:
    argv = command(policy=Policy(disk_bytes=12_345))
    assert has(argv, "--size", "12345", "--tmpfs", "/tmp")
    assert has(argv, "--ro-bind", "/private/images", "/opt/room/images")
    assert has(argv, "--ro-bind", "/home/me/venv", "/home/me/venv")
    assert has(argv, "--remount-ro", "/")
    assert "--bind" not in argv


def test_the_interpreter_brings_no_folder_twice_and_none_below_usr() -> None:
    folders = [Path(folder) for folder in Interpreter.current().folders]
    assert not [folder for folder in folders if folder.is_relative_to("/usr")]
    assert not [(a, b) for a in folders for b in folders if a != b and a.is_relative_to(b)]


def test_without_bubblewrap_opening_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with Sandbox() as sandbox, pytest.raises(IsolationError, match="apt install bubblewrap"):
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
        Sandbox() as sandbox,
        pytest.raises(IsolationError, match=r"no isolation: bwrap: No permissions; .+"),
    ):
        sandbox.open({})


def test_an_old_bubblewrap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "echo bubblewrap 0.4.1", monkeypatch)
    with Sandbox() as sandbox, pytest.raises(IsolationError, match=r"0\.8 or newer"):
        sandbox.open({})
