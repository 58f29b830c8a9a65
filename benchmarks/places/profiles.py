"""Seccomp profiles of container engines: the published JSON, loaded for a command as an engine loads it.

Docker's own profile is read from its repository at one commit, and not kept in this one. Rules are chosen by
architecture, version of Linux and capabilities as Docker chooses them (moby/profiles, seccomp/seccomp_linux.go). As in
runc, names of calls that this libseccomp does not know are skipped.
Not covered: what newer versions of runc add, which is ENOSYS for calls that are newer than a profile.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.conformance.sources import Sources

_DOCKER = ("moby/profiles@cd3bed8061c7b7378b61fc6827c7885779417a75", "seccomp/default.json")
_WITHOUT_LANDLOCK = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {
            "names": ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": errno.ENOSYS,
        }
    ],
}
# The names of Go, which profiles use, for those of Linux
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64", "s390x": "s390x"}


def write_profiles(folder: Path, sources: Sources) -> None:
    """Write landlock.json, then docker.json. Raises SourceError if Docker's profile cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "landlock.json").write_text(json.dumps(_WITHOUT_LANDLOCK))
    (folder / "docker.json").write_bytes(sources.read(*_DOCKER))


def rules_of(
    profile: Mapping[str, Any], capabilities: Collection[str], machine: str, release: str
) -> Iterator[Mapping[str, Any]]:
    """The rules of a profile for a container with these capabilities, on this architecture and version of Linux."""
    for rule in profile["syscalls"]:
        wanted, unwanted = (rule.get(key) or {} for key in ("includes", "excludes"))
        if not set(wanted.get("caps") or ()) <= set(capabilities):
            continue
        if set(unwanted.get("caps") or ()) & set(capabilities):
            continue
        architecture = _ARCHITECTURES.get(machine, machine)
        if architecture not in (wanted.get("arches") or (architecture,)):
            continue
        if architecture in (unwanted.get("arches") or ()):
            continue
        if _version(release) < _version(wanted.get("minKernel", "0.0")):
            continue
        if "minKernel" in unwanted and _version(release) >= _version(unwanted["minKernel"]):
            continue
        yield rule


def enter(profile: Path, capabilities: Collection[str], command: Sequence[str]) -> None:
    """Load a profile for a container with these capabilities, and become the command. The caller is root."""
    content = json.loads(profile.read_text())
    machine = os.uname()
    build(content, rules_of(content, capabilities, machine.machine, machine.release)).load()
    os.execvp(command[0], list(command))


def build(profile: Mapping[str, Any], rules: Iterator[Mapping[str, Any]]) -> Any:
    """The filter of libseccomp with these rules of a profile."""
    import pyseccomp

    default = _action(profile["defaultAction"], profile.get("defaultErrnoRet"))
    made = pyseccomp.SyscallFilter(default)
    made.set_attr(pyseccomp.Attr.CTL_NNP, 0)  # an engine loads it as root; programs may still gain rights
    for name in _sub_architectures(profile):
        made.add_arch(name)
    for rule in rules:
        action = _action(rule["action"], rule.get("errnoRet"))
        for call in rule["names"]:
            if action != default and _is_known(call):
                made.add_rule(action, call, *map(_argument, rule.get("args") or ()))
    return made


def _action(name: str, error: int | None) -> int:
    match name:
        case "SCMP_ACT_ALLOW":
            return 0x7FFF0000  # SECCOMP_RET_ALLOW
        case "SCMP_ACT_ERRNO":
            return 0x00050000 | (errno.EPERM if error is None else error)  # SECCOMP_RET_ERRNO
    raise ValueError(f"{name} is no action of the profiles that are known here")


def _argument(condition: Mapping[str, Any]) -> Any:
    import pyseccomp

    operator = getattr(pyseccomp, condition["op"].removeprefix("SCMP_CMP_"))
    return pyseccomp.Arg(condition["index"], operator, condition["value"], condition.get("valueTwo", 0))


def _sub_architectures(profile: Mapping[str, Any]) -> Iterator[int]:
    """Those that this machine runs beside its own, for instance programs of 32 bits."""
    import pyseccomp

    for entry in profile.get("archMap", ()):
        if (
            getattr(pyseccomp.Arch, entry["architecture"].removeprefix("SCMP_ARCH_"), 0)
            == pyseccomp.system_arch()
        ):
            for name in entry["subArchitectures"] or ():
                yield getattr(pyseccomp.Arch, name.removeprefix("SCMP_ARCH_"))


def _is_known(call: str) -> bool:
    import pyseccomp

    return bool(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call) != -1)


def _version(release: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", release)
    return tuple(map(int, found.groups())) if found else (0, 0)
