"""Profiles of container engines, and what counts as a success in an emulated place."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.places import interpreters
from benchmarks.places.emulated import PLACES, Place
from benchmarks.places.kernels import KERNELS, ROOT, Kernel, KernelError, build_archive, unpack
from benchmarks.places.profiles import rules_of
from benchmarks.places.visits import Outcome, format_table, visit

GOOD = Outcome("here", "bwrap", "bwrap", "7", 8, 8)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("a weaker tier", "bwrap", "landlock", "7", 8, 8),
        Outcome("an escape", "bwrap", "bwrap", "7", 7, 8),
        Outcome("a wrong answer", "bwrap", "bwrap", "6", 8, 8),
        Outcome("nothing tried", "bwrap", "bwrap", "7", 0, 0),
        Outcome("isolation where it should be refused", "refused", "landlock", "7", 8, 8),
    ],
    ids=lambda outcome: outcome.place,
)
def test_it_is_no_success(outcome: Outcome) -> None:
    assert not outcome.is_good


@pytest.mark.parametrize("outcome", [GOOD, Outcome("nowhere", "refused", "refused", "", 0, 0, "why")])
def test_what_was_expected_is_a_success(outcome: Outcome) -> None:
    assert outcome.is_good


def test_the_table_has_a_row_for_each_place() -> None:
    table = format_table([GOOD, Outcome("nowhere", "refused", "refused", "", 0, 0, "why")])
    assert table.splitlines()[2:] == [
        "| here | bwrap | answered | 8 of 8 |",
        "| nowhere | refused | why | – |",
    ]


# Our own words in the format of container engines
RULE: dict[str, Any] = {"names": ["mount"], "action": "SCMP_ACT_ALLOW"}


@pytest.mark.parametrize(
    ("condition", "is_chosen"),
    [
        ({}, True),
        ({"includes": {"caps": ["CAP_SYS_ADMIN"]}}, False),
        ({"includes": {"caps": ["CAP_CHOWN"]}}, True),
        ({"includes": {"caps": ["CAP_CHOWN", "CAP_SYS_ADMIN"]}}, False),
        ({"excludes": {"caps": ["CAP_SYS_ADMIN"]}}, True),
        ({"excludes": {"caps": ["CAP_SYS_ADMIN", "CAP_CHOWN"]}}, False),
        ({"includes": {"arches": ["s390", "s390x"]}}, False),
        ({"includes": {"arches": ["amd64", "x32"]}}, True),
        ({"excludes": {"arches": ["amd64"]}}, False),
        ({"includes": {"minKernel": "4.8"}}, True),
        ({"includes": {"minKernel": "6.10"}}, False),
        ({"excludes": {"minKernel": "4.8"}}, False),
    ],
)
def test_a_rule_is_chosen_as_docker_chooses_it(condition: dict[str, Any], is_chosen: bool) -> None:
    rules = rules_of({"syscalls": [RULE | condition]}, {"CAP_CHOWN"}, "x86_64", "6.9-rc1")
    assert bool(list(rules)) == is_chosen


_PROFILE = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]}],
    "syscalls": [
        {"names": ["no_such_call", "sethostname"], "action": "SCMP_ACT_ERRNO"},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
        {
            "names": ["personality"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": errno.EBUSY,
            "args": [{"index": 0, "value": 8, "op": "SCMP_CMP_EQ"}],
        },
    ],
}


@pytest.mark.skipif(os.getuid() != 0, reason="only root loads a profile that allows to gain rights")
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("libc.sethostname(b'x', -1)", errno.EPERM),
        ("libc.syscall(435, None, 0)", errno.ENOSYS),
        ("libc.personality(8)", errno.EBUSY),
        ("libc.personality(-1)", 0),
    ],
    ids=["with the usual error", "with its own error", "with an argument", "not at all"],
)
def test_a_command_in_a_profile_is_refused_calls(tmp_path: Path, call: str, error: int) -> None:
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(_PROFILE))
    code = f"import ctypes; libc = ctypes.CDLL(None, use_errno=True); {call}; print(ctypes.get_errno())"
    command = (sys.executable, "-m", "benchmarks.places", "--profile", str(file), "--", sys.executable)
    done = subprocess.run([*command, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{error}\n", "")


@pytest.mark.slow
def test_a_place_without_any_isolation_refuses_in_one_line(tmp_path: Path) -> None:
    place = next(each for each in PLACES if each.expected == "refused")
    outcome = visit(place, ("environment",), tmp_path)
    if outcome.tier == "left out":
        pytest.skip(outcome.note)
    assert outcome.tier == "refused"
    assert "offers no Landlock" in outcome.note


def test_every_kernel_of_a_place_is_known() -> None:
    assert {each.kernel for each in PLACES} - {""} == {each.name for each in KERNELS}


def test_every_interpreter_of_a_place_can_be_laid_out() -> None:
    assert {each.interpreter for each in PLACES} - {""} == set(interpreters.KINDS)


def test_an_interpreter_of_another_version_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho 2 7\n")
    other.chmod(0o755)
    monkeypatch.setattr(interpreters, "_DEBIAN", str(other))
    place = next(each for each in PLACES if each.interpreter == "Debian")
    outcome = visit(place, ("environment",), tmp_path)
    assert (outcome.tier, outcome.note.partition(" is ")[2]) == (
        "left out",
        "not of this version, and the packages are of this one",
    )


def test_an_interpreter_that_was_not_made_is_left_out_of_the_next_place_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(home: Path) -> None:
        raise interpreters.InterpreterMissingError("uv is missing")

    version = tmp_path / "python3"
    version.write_text(f"#!/bin/sh\necho {sys.version_info[0]} {sys.version_info[1]}\n")
    version.chmod(0o755)
    monkeypatch.setattr(interpreters, "_DEBIAN", str(version))
    monkeypatch.setitem(interpreters.KINDS, "uv", (fail, "bin/python"))
    places = [each for each in PLACES if each.interpreter == "uv"]
    assert {visit(each, ("environment",), tmp_path).note for each in places} == {"uv is missing"}


@pytest.mark.slow
def test_a_prefix_like_that_of_conda_has_the_packages_of_this_interpreter(tmp_path: Path) -> None:
    try:
        python = interpreters.build("conda", tmp_path)
    except interpreters.InterpreterMissingError as error:
        pytest.skip(f"{error}")
    code = "import ipykernel, sys; print(sys.prefix, sys.base_prefix)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    prefix = str(tmp_path / "python of conda")
    assert done.stdout.split("\n")[0] == f"{prefix} {prefix}", done.stderr


@pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox is what the archive holds")
def test_the_first_file_system_of_a_kernel_can_be_unpacked(tmp_path: Path) -> None:
    archive = build_archive({"virtio": b"a module of 19 bytes", "9p": b"another"})
    subprocess.run(["busybox", "cpio", "-i"], input=archive, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "modules" / "virtio.ko").read_bytes() == b"a module of 19 bytes"
    assert (tmp_path / "init").stat().st_mode & 0o111
    assert "for module in virtio 9p;" in (tmp_path / "init").read_text()


def test_a_package_with_another_content_is_no_kernel(tmp_path: Path) -> None:
    package = tmp_path / "linux.deb"
    package.write_bytes(b"changed")
    kernel = Kernel("Test", ((package.as_uri(), "0" * 64),))
    with pytest.raises(KernelError, match=r"linux\.deb is another file"):
        unpack(kernel, tmp_path / "cache")
    assert not (tmp_path / "cache" / "Test").exists()


def test_a_package_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=r"nowhere\.deb"):
        unpack(Kernel("Test", (((tmp_path / "nowhere.deb").as_uri(), "0" * 64),)), tmp_path / "cache")


def test_a_kernel_that_cannot_be_had_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = (tmp_path / "nowhere.deb").as_uri()
    monkeypatch.setattr("benchmarks.places.kernels.KERNELS", (Kernel("Test", ((gone, "0" * 64),)),))
    monkeypatch.setattr("benchmarks.places.kernels.why_unusable", lambda: "")
    outcome = visit(Place("elsewhere", "bwrap", kernel="Test", needs_root=False), ("environment",), tmp_path)
    assert (outcome.tier, "nowhere.deb" in outcome.note) == ("left out", True)
